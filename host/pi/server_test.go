package pi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deja/readcache"
	"deja/trust"
)

func TestReady(t *testing.T) {
	var out strings.Builder
	if err := (&Server{Version: "1.2.3"}).Serve(t.Context(), strings.NewReader(""), &out); err != nil {
		t.Fatal(err)
	}
	var got ReadyParams
	if err := json.Unmarshal(parseReply(t, out.String()).Params, &got); err != nil {
		t.Fatal(err)
	}
	want := ReadyParams{
		Protocol: 1, Version: "1.2.3", MaxMessage: 64 << 20,
		Methods: []string{"open", "entries", "read", "refresh", "status", "close", "ping", "cancel"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ready (-want +got):\n%s", d)
	}
}

// The main path: a plain read that is proven by the next entries, then a claim (spec 6.3, 6.9).
func TestReadTwice(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	var opened OpenResult
	c.call(MethodOpen, p.open("s"), &opened)
	if !opened.Enabled || opened.Problems != nil {
		t.Errorf("open: %+v, want enabled and no problems", opened)
	}
	first := p.read(c, "s", "poem.txt")
	if first.Plain == nil || first.Plain.Expect != readcache.Digest(poem) || first.Plain.Path != "poem.txt" || first.Text != nil {
		t.Fatalf("first read: %+v, want a plain read that expects the file's text", first)
	}
	result := p.delivered(first, poem)
	c.call(MethodEntries, EntriesParams{Session: "s", Entries: []Entry{result}}, nil)

	second := p.read(c, "s", "poem.txt")
	if second.Text == nil || *second.Text != "[readcache: unchanged, 5 lines]" || second.Plain != nil || second.Reason != "claim" {
		t.Fatalf("second read: %+v, want a claim", second)
	}
	var meta readcache.Meta
	if err := json.Unmarshal(second.Meta, &meta); err != nil || meta.Mode != trust.ModeUnchanged || meta.PathKey != filepath.Join(p.dir, "poem.txt") {
		t.Errorf("metadata %s: %v", second.Meta, err)
	}
}

// spec 6.8: the third claim in a row is served in full, unless the user has spoken in between.
func TestRepeat(t *testing.T) {
	for _, spoken := range []bool{true, false} {
		p := newProject(t)
		c := dial(t, &Server{})
		c.call(MethodOpen, p.open("s"), nil)
		text := poem
		var last ReadResult
		for range 4 {
			last = ReadResult{}
			entries := p.called("poem.txt")
			if !spoken {
				entries[0].Role = "system"
			}
			c.call(MethodRead, ReadParams{EntriesParams: EntriesParams{Session: "s", Entries: entries}, Leaf: p.leaf, Path: "poem.txt"}, &last)
			if last.Text != nil {
				text = *last.Text
			}
			c.call(MethodEntries, EntriesParams{Session: "s", Entries: []Entry{p.delivered(last, text)}}, nil)
		}
		if want := map[bool]string{true: "claim", false: "repeated"}[spoken]; last.Reason != want {
			t.Errorf("fourth read, with the user in between: %t: %s, want %s", spoken, last.Reason, want)
		}
	}
}

// spec 1.3: the same request at another leaf is another question.
func TestReadAtOldLeaf(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	first := p.read(c, "s", "poem.txt")
	before := p.leaf
	result := p.delivered(first, poem)
	ask := func(leaf string, entries ...Entry) ReadResult {
		var res ReadResult
		c.call(MethodRead, ReadParams{EntriesParams: EntriesParams{Session: "s", Entries: entries}, Leaf: leaf, Path: "poem.txt"}, &res)
		return res
	}
	for i, tc := range []struct {
		leaf  string
		sent  []Entry
		claim bool
	}{{before, nil, false}, {result.ID, []Entry{result}, true}, {before, nil, false}, {"", nil, false}, {result.ID, nil, true}} {
		if got := ask(tc.leaf, tc.sent...); (got.Text != nil) != tc.claim {
			t.Errorf("%d: at %q: %+v, want a claim: %t", i, tc.leaf, got, tc.claim)
		}
	}
}

// spec 5.6: entries that come again change nothing, also when they differ.
func TestDuplicateEntries(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	first := p.read(c, "s", "poem.txt")
	result := p.delivered(first, poem)
	forged := result
	forged.Meta, forged.Type = nil, "compaction"
	c.call(MethodEntries, EntriesParams{Session: "s", Entries: []Entry{result, result, forged, {Type: "message"}}}, nil)
	if again := p.read(c, "s", "poem.txt"); again.Text == nil {
		t.Errorf("after duplicates: %+v, want a claim", again)
	}
	var st StatusResult
	c.call(MethodStatus, StatusParams{EntriesParams: EntriesParams{Session: "s"}, Leaf: p.leaf}, &st)
	if !strings.Contains(st.Text, "3 bad_entry") {
		t.Errorf("status does not count the two duplicates and the entry without id:\n%s", st.Text)
	}
}

// A second open forgets what was sent; a close does too.
func TestOpenAgainAndClose(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	c.call(MethodEntries, EntriesParams{Session: "s", Entries: p.called("poem.txt")}, nil)
	at := ReadParams{EntriesParams: EntriesParams{Session: "s"}, Leaf: p.leaf, Path: "poem.txt"}
	c.call(MethodRead, at, nil)
	c.call(MethodOpen, p.open("s"), nil)
	if r := c.try(MethodRead, at); r.Error == nil || r.Error.Code != CodeNoLeaf {
		t.Errorf("read at a leaf from before the second open: %+v, want CodeNoLeaf", r)
	}
	c.call(MethodClose, CloseParams{Session: "s"}, nil)
	c.call(MethodClose, CloseParams{Session: "s"}, nil)
	if r := c.try(MethodRead, at); r.Error == nil || r.Error.Code != CodeNoSession {
		t.Errorf("read after close: %+v, want CodeNoSession", r)
	}
}

// Of more than maxSessions sessions the one opened longest ago is forgotten.
func TestEviction(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	for i := range maxSessions {
		c.call(MethodOpen, p.open(fmt.Sprint("s", i)), nil)
	}
	c.call(MethodOpen, p.open("s3"), nil) // again: it is the newest now, and nobody has to go for it
	c.call(MethodOpen, p.open("one more"), nil)
	for i := range maxSessions {
		r := c.try(MethodEntries, EntriesParams{Session: fmt.Sprint("s", i)})
		if gone := r.Error != nil && r.Error.Code == CodeNoSession; gone != (i == 0) {
			t.Errorf("session s%d: %+v", i, r.Error)
		}
	}
}

// spec 2.5: odd offsets and limits go back as they came, without metadata.
func TestArguments(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	for _, tc := range []struct {
		offset, limit string
		odd           bool
	}{
		{"1", "", false},
		{"1.0", "2e0", false},
		{"null", "null", false},
		{"2147483648", "", false},
		{"0", "", true},
		{"-1", "", true},
		{"1.5", "", true},
		{`"1"`, "", true},
		{"true", "", true},
		{"[1]", "", true},
		{"{}", "", true},
		{"1e999", "", true},
		{"2147483649", "", true},
		{"", "0", true},
		{"", "-0", true},
		{"1", `""`, true},
	} {
		var res ReadResult
		c.call(MethodRead, ReadParams{
			EntriesParams: EntriesParams{Session: "s"}, Path: "poem.txt",
			Offset: json.RawMessage(tc.offset), Limit: json.RawMessage(tc.limit),
		}, &res)
		if odd := res.Reason == "odd_arguments"; odd != tc.odd || res.Plain == nil {
			t.Errorf("offset %q, limit %q: %+v, want odd: %t", tc.offset, tc.limit, res, tc.odd)
		}
		if tc.odd && (string(res.Plain.Offset) != tc.offset || string(res.Plain.Limit) != tc.limit || res.Meta != nil || res.Plain.Expect != "") {
			t.Errorf("offset %q, limit %q: passed on as %+v", tc.offset, tc.limit, res.Plain)
		}
	}
}

// What cannot be read as text is the host's business; the answers name the reason (spec 8.2).
func TestReasons(t *testing.T) {
	p := newProject(t)
	p.write("binary", "\xff\xfe\x00")
	p.write(".env", "TOKEN=1\n")
	p.write("long", strings.Repeat("x", 60<<10))
	p.write("late", poem)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	for path, want := range map[string]string{
		"binary": "not_text", ".env": "excluded", "absent": "not_found", ".": "not_regular", "long": "nothing_shown",
		"nul\x00byte": "unreadable", "poem.txt:9-3": "bad_range", "poem.txt:2-3": "no_base", "": "not_regular",
	} {
		var res ReadResult
		c.call(MethodRead, ReadParams{EntriesParams: EntriesParams{Session: "s"}, Path: path}, &res)
		if res.Reason != want {
			t.Errorf("read of %q: %+v, want reason %s", path, res, want)
		}
		if want == "bad_range" && (res.Error == "" || res.Plain != nil || res.Text != nil) {
			t.Errorf("read of %q: %+v, want only an error", path, res)
		}
	}
}

// The engine prunes with the first read, keeps what the branch refers to, and stores what it served.
func TestStoreAfterRead(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	p.read(c, "s", "poem.txt")
	if err := c.hangUp(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(p.dir, ".pi/readcache/objects/sha256-"+readcache.Digest(poem)+".txt"))
	if err != nil || string(got) != poem {
		t.Errorf("stored %q, %v", got, err)
	}
}

// One session, many reads at once: every one is answered, each for its own leaf. Run with -race.
func TestManyReads(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	first := p.read(c, "s", "poem.txt")
	before := p.leaf
	result := p.delivered(first, poem)
	c.call(MethodEntries, EntriesParams{Session: "s", Entries: []Entry{result}}, nil)
	const n = 300
	go func() {
		for i := range n {
			leaf := before
			if i%2 == 1 {
				leaf = result.ID
			}
			method, params := MethodRead, any(ReadParams{EntriesParams: EntriesParams{Session: "s"}, Leaf: leaf, Path: "poem.txt"})
			if i%10 == 9 {
				method, params = MethodStatus, StatusParams{EntriesParams: EntriesParams{Session: "s"}, Leaf: leaf}
			}
			raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1000 + i, "method": method, "params": params})
			_, _ = c.in.Write(append(raw, '\n'))
		}
	}()
	var seen []int
	for range n {
		r := parseReply(t, c.line())
		var id int
		_ = json.Unmarshal(r.ID, &id)
		seen = append(seen, id)
		if r.Error != nil {
			t.Fatalf("%d: %+v", id, r.Error)
		}
		var res ReadResult
		if err := json.Unmarshal(r.Result, &res); err != nil {
			t.Fatal(err)
		}
		if id%10 != 9 && (res.Text != nil) != (id%2 == 1) {
			t.Errorf("%d: %s", id, r.Result)
		}
	}
	slices.Sort(seen)
	if len(slices.Compact(seen)) != n {
		t.Errorf("%d different ids answered, want %d", len(seen), n)
	}
}
