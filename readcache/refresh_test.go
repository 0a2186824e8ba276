package readcache

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"deja/session"
	"deja/trust"
)

// refresh is what a host does with the command: make the entry and append it.
func (s *stage) refresh(req Request) (Invalidate, string) {
	s.Helper()
	inv, text, err := s.engine.Refresh(context.Background(), req, time.UnixMilli(1234))
	if err != nil {
		s.Fatalf("%v", err)
	}
	raw, err := json.Marshal(inv)
	if err != nil {
		s.Fatalf("%v", err)
	}
	path, scope, err := ParseInvalidate(raw)
	if err != nil {
		s.Fatalf("%s: %v", raw, err)
	}
	s.add(session.Entry{Kind: session.Invalidation, Path: path, Scope: scope})
	return inv, text
}

// spec 4.4, spec 8.3: which lines a refresh is about, and what it says.
func TestRefreshScope(t *testing.T) {
	for _, c := range []struct {
		req   Request
		key   string
		scope string
		text  string
	}{
		{request("a"), "a", "full", "[readcache: the next read of a is served in full]"},
		{request("a:10-20"), "a", "r:10:20", "[readcache: the next read of a lines 10-20 is served in full]"},
		{request("a:7"), "a", "r:7:7", "[readcache: the next read of a lines 7-7 is served in full]"},
		{request("a", 10), "a", "r:10:120", "[readcache: the next read of a lines 10-120 is served in full]"},
		{request("a", 10, 11), "a", "r:10:20", "[readcache: the next read of a lines 10-20 is served in full]"},
		{request("a", 10, 1<<40), "a", "r:10:120", "[readcache: the next read of a lines 10-120 is served in full]"},
		{request("a", 1), "a", "full", "[readcache: the next read of a is served in full]"},
		{request("a", 1, 120), "a", "full", "[readcache: the next read of a is served in full]"},
		{request("a", 120), "a", "r:120:120", "[readcache: the next read of a lines 120-120 is served in full]"},
		{request("nowhere"), "nowhere", "full", "[readcache: the next read of nowhere is served in full]"},
		{request("nowhere", 5, 2), "nowhere", "r:5:6", "[readcache: the next read of nowhere lines 5-6 is served in full]"},
		{request("nowhere", 5), "nowhere", "r:5:2147483647", "[readcache: the next read of nowhere lines 5-2147483647 is served in full]"},
	} {
		s := newStage(t)
		s.write("a", file(120))
		inv, text := s.refresh(c.req)
		want := Invalidate{V: 1, Kind: "invalidate", PathKey: s.path(c.key), ScopeKey: c.scope, At: 1234}
		if inv != want || text != c.text {
			t.Errorf("%+v:\n got %+v %s\nwant %+v %s", c.req, inv, text, want, c.text)
		}
	}
}

// spec 8.3: what no lines are is said, not guessed.
func TestRefreshErrors(t *testing.T) {
	s := newStage(t)
	s.write("a", file(120))
	odd := request("a")
	odd.Odd = true
	for _, req := range []Request{odd, request("a", 0), request("a", -1), request("a", 1, 0), request("a", 121), request("a:5-2"), request("a:0")} {
		if inv, text, err := s.engine.Refresh(context.Background(), req, time.Time{}); err == nil || inv != (Invalidate{}) || text != "" {
			t.Errorf("%+v: %+v %q %v", req, inv, text, err)
		}
	}
}

// spec 4.4, spec 4.5: after a refresh the next read is a plain one, of the lines or of all.
func TestReadAfterRefresh(t *testing.T) {
	s := newStage(t)
	s.write("a", file(120))
	s.read("a")
	before := s.leaf
	s.refresh(request("a"))
	s.plain(s.read("a"), ReasonNoBase, trust.ModeFull, "full")
	s.claim(s.read("a"), trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]")

	s.leaf = before // another branch, which the refresh is not on
	s.claim(s.read("a"), trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]")

	s.refresh(request("a", 10, 11))
	s.plain(s.decide(request("a")), ReasonNoBase, trust.ModeFull, "full")
	s.plain(s.decide(request("a", 15, 2)), ReasonNoBase, trust.ModeFull, "r:15:16")
	s.claim(s.decide(request("a", 21, 20)), trust.ModeUnchangedRange, "r:21:40", "[readcache: unchanged in lines 21-40 of 120]")
	s.plain(s.read("a", 10, 11), ReasonNoBase, trust.ModeFull, "r:10:20")
	s.claim(s.decide(request("a")), trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]")
}

// spec 8.3: the argument line of the command.
func TestParseRefresh(t *testing.T) {
	for line, want := range map[string]Request{
		"a":                   request("a"),
		"  a  ":               request("a"),
		"a 10-20":             request("a", 10, 11),
		"a\t10-20 ":           request("a", 10, 11),
		"a 7-7":               request("a", 7, 1),
		"my file.go":          request("my file.go"),
		"my file.go 1-2":      request("my file.go", 1, 2),
		`"my file.go" 1-2`:    request("my file.go", 1, 2),
		`"a 1-2"`:             request("a 1-2"),
		"a 10":                request("a 10"),
		"10-20":               request("10-20"),
		"a:10-20":             request("a:10-20"),
		"a 1-2 3-4":           request("a 1-2", 3, 2),
		"a 1-9999999999":      request("a 1-9999999999"),
		"a 1-999999999":       request("a", 1, 999999999),
		`"`:                   request(`"`),
		"a -5-2":              request("a -5-2"),
		"a b 000000001-00002": request("a b", 1, 2),
	} {
		got, err := ParseRefresh(line)
		if err != nil || got.Path != want.Path || !same(got.Offset, want.Offset) || !same(got.Limit, want.Limit) || got.Odd {
			t.Errorf("%q: %s %v, want %s", line, show(got), err, show(want))
		}
	}
	for _, line := range []string{"", "  ", `""`, "a 0-5", "a 5-4", "a 0-0", `"" 1-2`} {
		if got, err := ParseRefresh(line); err == nil {
			t.Errorf("%q: %s, want an error", line, show(got))
		} else if !strings.Contains(err.Error(), "src/main.go 10-20") {
			t.Errorf("%q: %v; want an example", line, err)
		}
	}
}

func same(a, b *int) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

func show(r Request) string {
	raw, _ := json.Marshal(r)
	return string(raw)
}

// spec 8.3
func FuzzParseRefresh(f *testing.F) {
	for _, s := range []string{"a", "a 1-2", `"a b" 10-20`, "", "a 0-1", "a 999999999-999999999", "\x00 1-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		req, err := ParseRefresh(line)
		if err != nil {
			return
		}
		if req.Path == "" || !strings.Contains(line, req.Path) || (req.Offset == nil) != (req.Limit == nil) {
			t.Fatalf("%q: %s", line, show(req))
		}
		if req.Offset != nil && (*req.Offset < 1 || *req.Limit < 1) {
			t.Fatalf("%q: %s", line, show(req))
		}
	})
}
