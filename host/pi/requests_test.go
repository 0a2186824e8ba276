package pi

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deja/readcache"
)

func TestRefresh(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	num := func(s string) json.RawMessage { return json.RawMessage(s) }
	line := func(s string) *string { return &s }
	for name, tc := range map[string]struct {
		params RefreshParams
		scope  string
		text   string
	}{
		"line":        {RefreshParams{Line: line(" poem.txt ")}, "full", "[readcache: the next read of poem.txt is served in full]"},
		"line, range": {RefreshParams{Line: line("poem.txt 2-3")}, "r:2:3", "[readcache: the next read of poem.txt lines 2-3 is served in full]"},
		"path":        {RefreshParams{Path: "poem.txt"}, "full", "[readcache: the next read of poem.txt is served in full]"},
		"path, range": {RefreshParams{Path: "poem.txt", Offset: num("2"), Limit: num("1")}, "r:2:2", "[readcache: the next read of poem.txt lines 2-2 is served in full]"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.params.Session = "s"
			var got struct {
				CustomType string
				Data       readcache.Invalidate
				Text       string
			}
			c.t = t
			c.call(MethodRefresh, tc.params, &got)
			if got.Data.At == 0 {
				t.Error("at is 0")
			}
			got.Data.At = 0
			want := readcache.Invalidate{V: 1, Kind: "invalidate", PathKey: filepath.Join(p.dir, "poem.txt"), ScopeKey: tc.scope}
			if d := cmp.Diff(want, got.Data); d != "" || got.Text != tc.text || got.CustomType != "pi-readcache" {
				t.Errorf("got %+v\n%s", got, d)
			}
		})
	}
}

// The entry of a refresh takes effect at its place in the branch (spec 4.4, 8.3).
func TestRefreshThenRead(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	first := p.read(c, "s", "poem.txt")
	result := p.delivered(first, poem)
	var r struct {
		CustomType string
		Data       json.RawMessage
	}
	// A refresh brings entries as a read does: the client counts them as sent.
	c.call(MethodRefresh, RefreshParams{EntriesParams: EntriesParams{Session: "s", Entries: []Entry{result}}, Path: "poem.txt"}, &r)
	if got := p.read(c, "s", "poem.txt"); got.Text == nil {
		t.Fatalf("before the entry of the refresh: %+v, want a claim", got)
	}
	p.leaf = result.ID
	inv := p.entry(Entry{Type: "custom", CustomType: r.CustomType, Data: r.Data})
	c.call(MethodEntries, EntriesParams{Session: "s", Entries: []Entry{inv}}, nil)
	if got := p.read(c, "s", "poem.txt"); got.Plain == nil || got.Reason != string(readcache.ReasonNoBase) {
		t.Errorf("after the refresh: %+v, want a plain read without a base", got)
	}
}

func TestStatus(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	first := p.read(c, "s", "poem.txt")
	result := p.delivered(first, poem)
	c.call(MethodEntries, EntriesParams{Session: "s", Entries: []Entry{result}}, nil)
	second := p.read(c, "s", "poem.txt")
	stub := p.delivered(second, *second.Text)
	var got struct {
		Text   string
		Status readcache.Status
		Served map[string]int
	}
	c.call(MethodStatus, StatusParams{
		EntriesParams: EntriesParams{Session: "s", Entries: []Entry{stub}}, Leaf: stub.ID, Faults: map[string]int{"timeout": 2, "engine_died": 1},
	}, &got)
	if !maps.Equal(got.Served, map[string]int{"no_base": 1, "claim": 1}) {
		t.Errorf("served: %v", got.Served)
	}
	saved := int64(len(poem) - len(*second.Text))
	if s := got.Status; s.Files != 1 || s.Saved != saved || s.Modes["full"] != 1 || s.Modes["unchanged"] != 1 || s.Scopes[0].Path != filepath.Join(p.dir, "poem.txt") {
		t.Errorf("status: %+v", s)
	}
	for _, want := range []string{
		"1 full, 0 fallback, 1 unchanged, 0 unchanged in range, 0 diff", "  poem.txt  whole file",
		"answers of this process: 1 claim, 1 no_base", "faults of this process: 2 timeout, 1 engine_died",
	} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("the text lacks %q:\n%s", want, got.Text)
		}
	}
}

// spec 9.6: problems are told with file, line and key; the defaults hold. spec 6.1: enabled false.
func TestSettings(t *testing.T) {
	p := newProject(t)
	p.write(".pi/readcache/config.json", "{\n  \"enabeld\": false,\n  \"minSaving\": \"much\"\n}")
	c := dial(t, &Server{})
	var got OpenResult
	c.call(MethodOpen, p.open("s"), &got)
	file := filepath.Join(p.dir, ".pi", "readcache", "config.json")
	if !got.Enabled || len(got.Problems) != 2 ||
		!strings.HasPrefix(got.Problems[0], file+`:2:3: "enabeld"`) || !strings.HasPrefix(got.Problems[1], file+`:3:16: "minSaving"`) {
		t.Errorf("open: %+v", got)
	}
	p.write(".pi/readcache/config.json", `{"enabled": false}`)
	got = OpenResult{}
	c.call(MethodOpen, p.open("s"), &got)
	if got.Enabled || got.Problems != nil {
		t.Errorf("open: %+v, want disabled", got)
	}
	var res ReadResult
	c.call(MethodRead, ReadParams{EntriesParams: EntriesParams{Session: "s"}, Path: "@poem.txt", Offset: json.RawMessage(`"2"`)}, &res)
	want := ReadResult{Reason: "disabled", Plain: &Plain{Path: "@poem.txt", Offset: json.RawMessage(`"2"`)}}
	if d := cmp.Diff(want, res); d != "" {
		t.Errorf("disabled read (-want +got):\n%s", d)
	}
}
