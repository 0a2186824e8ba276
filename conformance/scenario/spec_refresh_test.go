package scenario

import (
	"encoding/json"
	"testing"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// invalidation fails the scenario unless the last entry about the read cache on the branch is an
// invalidation of this scope, as spec 4 has it.
func (s *stage) invalidation(name, scope string) {
	s.t.Helper()
	e := s.lastEntry("custom entry", func(e realpi.Entry) bool { return e.Type == "custom" })
	var data entry
	s.ok(json.Unmarshal(e.Data, &data))
	at, _ := data["at"].(float64)
	if age := time.Since(time.UnixMilli(int64(at))); age < 0 || age > time.Minute {
		s.t.Errorf("the invalidation is of %v ago", age)
	}
	if e.CustomType != "pi-readcache" || data["v"] != 1.0 || data["kind"] != "invalidate" || data["pathKey"] != s.abs(name) || data["scopeKey"] != scope {
		s.t.Errorf("the entry is %s %s, want an invalidation of %s %s", e.CustomType, e.Data, s.abs(name), scope)
	}
}

// refreshTool is a call of the tool readcache_refresh.
func refreshTool(path string, offset, limit int) scripted.Call {
	c := scripted.ReadRange(path, offset, limit)
	c.Name = "readcache_refresh"
	return c
}

// Spec 21.6, 27: "/readcache-refresh appends custom invalidation entry and next read is baseline full/slice".
func TestSpec21_27_RefreshCommand(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")

		s.want(s.command("/readcache-refresh "+s.path("a.txt")), "[readcache: the next read of "+s.path("a.txt")+" is served in full]")
		s.invalidation("a.txt", "full")
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")

		s.command("/readcache-refresh " + s.path("a.txt") + " 10-29")
		s.invalidation("a.txt", "r:10:29")
		s.wantStub(s.read("a.txt", 40, 5), "unchanged in lines 40-44 of 101") // other lines are as before
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Spec 21.6, 28: "readcache_refresh tool (if enabled) has same semantics as command". The refresh and
// the reads are turns of one run, without the user.
func TestSpec21_28_RefreshTool(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		path := s.path("a.txt")
		got := s.run(scripted.Read(path), scripted.Read(path), refreshTool(path, 0, 0), scripted.Read(path), scripted.Read(path))
		s.want(got[0], text)
		s.wantStub(got[1], "unchanged, 101 lines")
		s.want(got[2], "[readcache: the next read of "+path+" is served in full]")
		s.want(got[3], text)
		s.wantStub(got[4], "unchanged, 101 lines")
		s.invalidation("a.txt", "full")

		got = s.run(refreshTool(path, 10, 20), scripted.ReadRange(path, 40, 5), scripted.ReadRange(path, 10, 20), scripted.ReadRange(path, 10, 20))
		s.want(got[0], "[readcache: the next read of "+path+" lines 10-29 is served in full]")
		s.wantStub(got[1], "unchanged in lines 40-44 of 101")
		s.want(got[2], part(text, 10, 29))
		s.wantStub(got[3], "unchanged in lines 10-29 of 101")
		s.invalidation("a.txt", "r:10:29")
	})
}

// Spec 21.6, 29: "after restart/resume, invalidation still applies on branch replay". Once in order,
// once as a crash.
func TestSpec21_29_RefreshSurvivesRestart(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		s := staged(t, start(t, realpi.Options{Line: line}))
		text := numbered(100)
		for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
			s.write(name, text)
			s.want(s.read(name), text)
		}
		before := s.here()
		s.command("/readcache-refresh " + s.path("a.txt"))
		s.command("/readcache-refresh " + s.path("b.txt") + " 10-29")
		after := s.here()
		for _, kill := range []bool{false, true} {
			s.Pi = pitest.Restart(t, s.Pi, kill)
			s.jump(after)
			s.want(s.read("a.txt"), text)
			s.want(s.read("b.txt", 10, 20), part(text, 10, 29))
			s.wantStub(s.read("c.txt"), "unchanged, 101 lines")
		}
		s.jump(before) // the branch without the refresh
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Spec 21.6, 30: "invalidating full scope also invalidates all range scopes for that path".
func TestSpec21_30_FullRefreshClearsRanges(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.write("b.txt", text)
		s.want(s.read("a.txt", 1, 5), part(text, 1, 5))
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("a.txt"), text)
		s.want(s.read("b.txt", 10, 20), part(text, 10, 29))
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
		s.command("/readcache-refresh " + s.path("a.txt"))
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("a.txt", 1, 5), part(text, 1, 5))
		s.want(s.read("a.txt", 2, 2), "[readcache: unchanged in lines 2-3 of 101]") // out of what came since
		s.wantStub(s.read("b.txt", 10, 20), "unchanged in lines 10-29 of 101")      // another path
		s.want(s.read("a.txt"), text)
	})
}
