package scenario

import (
	"os"
	"testing"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// Plan 7, 8: "Invalid metadata in old session entries." A result of which nobody can say what it
// showed comes after one that is proven: what the model saw last is unknown then. Other files stay.
func TestPlan7_08_InvalidAfterValid(t *testing.T) {
	play(t, func(s *stage) {
		first := numbered(100)
		s.write("a.txt", first)
		s.write("b.txt", first)
		s.want(s.read("b.txt"), first)
		s.want(s.read("a.txt"), first)
		second := s.change("a.txt", "line 50 ", "LINE 50 ")
		s.want(s.read("a.txt"), s.oneLine("a.txt", first, second, 50))
		s.rewritten(func(list []entry) []entry {
			metadata(list[results(list)[2]])["v"] = 99
			return list
		})
		s.write("a.txt", first)
		s.want(s.read("a.txt"), first) // not "unchanged" against the first read
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("b.txt"), "unchanged, 101 lines")
	})
}

// Plan 7, 9: "Missing object blob for base hash." Here for a range, and for an object that is there
// but is not what its name says.
func TestPlan7_09_MissingObjectForRange(t *testing.T) {
	play(t, func(s *stage) {
		for name, spoil := range map[string]func(object string) error{
			"gone.txt":  os.Remove,
			"other.txt": func(object string) error { return os.WriteFile(object, []byte(numbered(99)), 0o600) },
			"short.txt": func(object string) error { return os.Truncate(object, 100) },
		} {
			text := name + "\n" + numbered(100) // an object of its own
			s.write(name, text)
			s.want(s.read(name), text)
			changed := s.change(name, "line 70 ", "LINE 70 ")
			s.ok(spoil(s.object(text)))
			s.want(s.read(name, 40, 20), part(changed, 40, 59)) // cannot be compared any more
			s.wantStub(s.read(name, 40, 20), "unchanged in lines 40-59 of 102")
		}
	})
}

// Plan 7, 10: "Compaction boundary always starts at latest active compaction + 1 (independent of
// firstKeptEntryId)": wherever it points, reads before it never count, reads after it do.
func TestPlan7_10_BoundaryIgnoresFirstKept(t *testing.T) {
	play(t, func(s *stage) {
		a, b := numbered(100), numbered(120)
		s.write("a.txt", a)
		s.write("b.txt", b)
		s.want(s.read("a.txt"), a)
		s.want(s.read("b.txt"), b)
		original, err := s.SessionFile(s.t.Context())
		s.ok(err)
		kept := map[string]func(list []entry) any{
			"the first entry": func(list []entry) any { return list[0]["id"] },
			"the read":        func(list []entry) any { return list[results(list)[0]-2]["id"] },
			"after the read":  func(list []entry) any { return list[results(list)[0]+1]["id"] },
			"no such entry":   func([]entry) any { return "ffffffff" },
		}
		for name, first := range kept {
			s.ok(s.SwitchSession(s.t.Context(), original))
			s.rewritten(func(list []entry) []entry { // between the two reads
				return insert(list, results(list)[0]+2, compaction(first(list).(string)))
			})
			if got := s.read("a.txt"); got != a {
				s.t.Errorf("kept from %s: the model received %.200s", name, got)
			}
			s.wantStub(s.read("b.txt"), "unchanged, 121 lines")
		}
	})
}

// Plan 7, 11: "Leaf reset (null) behavior when user rewinds to before first entry."
func TestPlan7_11_LeafReset(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		old := s.here()
		s.ok(s.ResetLeaf(s.t.Context()))
		s.want(s.here(), "")
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.jump(old)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.ok(s.ResetLeaf(s.t.Context()))
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
	})
}

// Plan 7, 12: "Concurrent writes of same hash object from multiple sessions." The same text under many
// names, read at once by two sessions: one object, and no name vouches for another.
func TestPlan7_12_SameObjectFromManySessions(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		one := staged(t, start(t, realpi.Options{Line: line}))
		two := staged(t, start(t, realpi.Options{Line: line, Project: one.Options.Project}))
		two.dir = one.dir
		text := numbered(150)
		var calls []scripted.Call
		for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt"} {
			one.write(name, text)
			calls = append(calls, scripted.Read(one.path(name)))
		}
		together([]*stage{one, two}, func(s *stage) {
			got, err := s.ReadBatch(t.Context(), calls...)
			if err != nil {
				t.Error(err)
			}
			for _, g := range got {
				s.want(g, text)
			}
		})
		wantStore(t, one.store(), map[string]bool{text: true})
		together([]*stage{one, two}, func(s *stage) { s.wantStub(s.aside("e.txt"), "unchanged, 151 lines") })
		changed := one.change("e.txt", "line 70 ", "LINE 70 ")
		together([]*stage{one, two}, func(s *stage) { s.want(s.aside("e.txt"), one.oneLine("e.txt", text, changed, 70)) })
	})
}

// Plan 7, 13: "Abort signal during read/diff." Here during the first read: what was never delivered is
// no base.
func TestPlan7_13_AbortDuringFirstRead(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		program, flag := slowly(t)
		s := staged(t, start(t, realpi.Options{Line: line, Env: []string{"DEJA_BIN=" + program}}))
		text := numbered(100)
		s.write("b.txt", text)
		s.want(s.read("b.txt"), text) // the engine is up
		s.write("a.txt", text)
		s.ok(os.WriteFile(flag, nil, 0o600))
		if got, said := s.aborted(100*time.Millisecond, scripted.Read(s.path("a.txt"))); said && got == text {
			t.Fatal("the read was not aborted: the scenario shows nothing")
		}
		s.ok(os.Remove(flag))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("b.txt"), "unchanged, 101 lines")
	})
}
