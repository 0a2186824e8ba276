package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
)

// Spec 21.3, 11: "read on branch A then /tree to branch B -> no stale base leakage".
func TestSpec21_11_TreeToAnotherBranch(t *testing.T) {
	play(t, func(s *stage) {
		first := numbered(100)
		s.write("a.txt", first)
		s.say("hello")
		root := s.here()
		s.want(s.read("a.txt"), first)
		a := s.here()

		s.jump(root) // branch B has not seen the file
		s.want(s.read("a.txt"), first)
		second := s.change("a.txt", "line 50 ", "LINE 50 ")
		s.want(s.read("a.txt"), s.oneLine("a.txt", first, second, 50))
		b := s.here()

		s.jump(a) // and branch A has not seen the second version
		s.want(s.read("a.txt"), s.oneLine("a.txt", first, second, 50))
		s.jump(b)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.write("a.txt", first)
		s.want(s.read("a.txt"), s.oneLine("a.txt", second, first, 50))
		s.jump(a)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Spec 21.3, 12: "/tree to pre-compaction point -> replay uses historical state correctly".
func TestSpec21_12_TreeToBeforeCompaction(t *testing.T) {
	play(t, func(s *stage) {
		first := numbered(100)
		s.write("a.txt", first)
		s.want(s.read("a.txt"), first)
		before := s.here()
		s.compacted()
		s.want(s.read("a.txt"), first)
		second := s.change("a.txt", "line 50 ", "LINE 50 ")
		s.want(s.read("a.txt"), s.oneLine("a.txt", first, second, 50))

		s.jump(before)
		s.want(s.read("a.txt"), s.oneLine("a.txt", first, second, 50)) // from the read of long ago
		s.jump(before)
		s.write("a.txt", first)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		if !s.say("what do you see?").Contains(first) {
			s.t.Error("the branch before the compaction does not hold the text")
		}
	})
}

// Spec 21.3, 13: "replay boundary uses strict latest-compaction barrier (start = latest compaction + 1,
// never firstKeptEntryId)".
func TestSpec21_13_StrictBarrier(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.rewritten(func(list []entry) []entry {
			return append(list, compaction(list[0]["id"].(string)))
		})
		if !s.say("what do you see?").Contains(text) {
			s.t.Fatal("the compaction did not keep the read: the scenario shows nothing")
		}
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Spec 21.3, 14: "latest compaction wins when multiple compactions exist on active path".
func TestSpec21_14_LatestCompactionWins(t *testing.T) {
	play(t, func(s *stage) {
		a, b := numbered(100), numbered(120)
		s.write("a.txt", a)
		s.write("b.txt", b)
		s.want(s.read("a.txt"), a)
		s.compacted()
		s.want(s.read("a.txt"), a)
		s.want(s.read("b.txt"), b)
		one := s.here()
		s.wantStub(s.read("b.txt"), "unchanged, 121 lines")
		s.compacted()
		s.want(s.read("a.txt"), a)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.want(s.read("b.txt"), b)
		s.jump(one) // with the first compaction only, what came after it counts
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("b.txt"), "unchanged, 121 lines")
	})
}

// Spec 21.3, 15: "first post-compaction read is baseline (full/baseline_fallback) for full and range scopes".
func TestSpec21_15_FirstReadAfterCompaction(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("full.txt", text)
		s.write("range.txt", text)
		s.write("both.txt", text)
		s.want(s.read("full.txt"), text)
		s.want(s.read("range.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("both.txt"), text)
		s.wantStub(s.read("both.txt", 10, 20), "unchanged in lines 10-29 of 101")
		s.compacted()
		s.want(s.read("full.txt"), text)
		s.want(s.read("range.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("both.txt", 10, 20), part(text, 10, 29))
		s.wantStub(s.read("full.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("range.txt", 10, 20), "unchanged in lines 10-29 of 101")
		s.want(s.read("both.txt"), text) // the range after the compaction is not the file
	})
}

// Spec 21.3, 16: "/fork then read -> independent branch replay state".
func TestSpec21_16_Fork(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.write("b.txt", text)
		s.want(s.read("a.txt"), text)
		s.want(s.read("b.txt"), text)
		session, err := s.Session(s.t.Context())
		s.ok(err)
		user, found := session.User("b.txt")
		if !found {
			s.t.Fatal("no user message about b.txt")
		}
		original, err := s.SessionFile(s.t.Context())
		s.ok(err)

		s.ok(s.Fork(s.t.Context(), user.ID))
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines") // copied with the branch
		s.want(s.read("b.txt"), text)                       // not in the fork
		second := s.change("a.txt", "line 50 ", "LINE 50 ")
		s.want(s.read("a.txt"), s.oneLine("a.txt", text, second, 50))

		s.ok(s.SwitchSession(s.t.Context(), original))
		s.want(s.read("a.txt"), s.oneLine("a.txt", text, second, 50)) // what the fork saw does not count here
		s.wantStub(s.read("b.txt"), "unchanged, 101 lines")
	})
}

// Spec 21.3, 17: "session switch/resume -> correct replay with no sidecar dependence". The store is
// deleted: it is supporting data, the session alone says what the model has.
func TestSpec21_17_SwitchAndResume(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		s := staged(t, start(t, realpi.Options{Line: line}))
		text := numbered(100)
		s.write("a.txt", text)
		s.write("b.txt", text)
		s.want(s.read("a.txt"), text)
		one, err := s.SessionFile(t.Context())
		s.ok(err)
		s.ok(s.NewSession(t.Context()))
		s.want(s.read("a.txt"), text) // another session has not seen it
		s.want(s.read("b.txt"), text)

		s.ok(os.RemoveAll(filepath.Join(s.Options.Project, ".pi", "readcache")))
		s.ok(s.SwitchSession(t.Context(), one))
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.want(s.read("b.txt"), text)

		s.ok(os.RemoveAll(filepath.Join(s.Options.Project, ".pi", "readcache")))
		s.Pi = pitest.Restart(t, s.Pi, false)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("b.txt", 10, 20), "unchanged in lines 10-29 of 101")
	})
}

// Spec 21.3, 18: "stale range trust does not override fresher full trust (seq freshness selection)".
func TestSpec21_18_FresherFullOverStaleRange(t *testing.T) {
	play(t, func(s *stage) {
		old := numbered(100)
		s.write("a.txt", old)
		s.want(s.read("a.txt", 10, 20), part(old, 10, 29))
		fresh := strings.ToUpper(old)
		s.write("a.txt", fresh)
		s.want(s.read("a.txt"), fresh)
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101") // against the full read
		s.write("a.txt", old)                                                  // what the old range read showed
		s.want(s.read("a.txt", 10, 20), part(old, 10, 29))                     // is not what the model saw last
	})
}
