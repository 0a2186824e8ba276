package scenario

import (
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// Ways a read cache lies, 1-14: the content left the context.

// Class 1, "compaction not noticed: R f; compact; R f".
func TestLie01_Compaction(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.compactAway()
		if s.say("and now?").Contains("line 50 of the file") {
			s.t.Fatal("the compaction left the text in the request: it shows nothing")
		}
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Class 6, "u1; R f; u2; rewind before R f; R f".
func TestLie06_RewindBeforeRead(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		_, err := s.Run(bg, "u1", scripted.Say("hello"))
		s.ok(err)
		before := s.here()
		s.want(s.read("a.txt"), text)
		_, err = s.Run(bg, "u2", scripted.Say("well"))
		s.ok(err)
		after := s.here()
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.ok(s.Tree(bg, before))
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.ok(s.Tree(bg, before))
		s.want(s.read("a.txt"), text)
		s.ok(s.Tree(bg, after))
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Class 7, "R f on A; jump to an ancestor; branch B; R f".
func TestLie07_OtherBranch(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.write("b.txt", strings.ToUpper(text))
		s.want(s.read("b.txt"), strings.ToUpper(text))
		ancestor := s.here()
		s.want(s.read("a.txt"), text)
		a := s.here()

		s.ok(s.Tree(bg, ancestor))
		s.wantStub(s.read("b.txt"), "unchanged, 101 lines")
		changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
		s.want(s.read("a.txt"), changed) // no diff: the base is on the other branch
		b := s.here()

		s.ok(s.Tree(bg, a))
		s.wantDiff(s.read("a.txt"), text, changed)
		s.ok(s.Tree(bg, b))
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Class 7 again: /fork before the read, and a clone that has the read.
func TestLie07_Fork(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		_, err := s.Run(bg, "first", scripted.Say("hello"))
		s.ok(err)
		s.want(s.read("a.txt"), text)
		s.ok(s.Clone(bg))
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		prompt := s.lastEntry("prompt", func(e realpi.Entry) bool { return e.Role == "user" && strings.Contains(e.Text, "please read") })
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.ok(s.Fork(bg, prompt.ID)) // before the second read: the first one is still there
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		branch, err := s.Branch(bg)
		s.ok(err)
		for _, e := range branch {
			if e.Role == "user" && strings.Contains(e.Text, "please read") {
				prompt = e
				break
			}
		}
		s.ok(s.Fork(bg, prompt.ID)) // before the first read
		s.want(s.read("a.txt"), text)
	})
}

// Class 8, "resume or restart with a ledger that outlived the context".
func TestLie08_Restart(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		s := &stage{Pi: start(t, realpi.Options{Line: line}), t: t, dir: "."}
		text := numbered(100)
		s.write("a.txt", text)
		s.write("b.txt", text)
		s.want(s.read("a.txt"), text)
		s.compactAway()
		s.want(s.read("b.txt"), text)

		s.Pi = pitest.Restart(t, s.Pi, false)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("b.txt"), "unchanged, 101 lines")
		s.Pi = pitest.Restart(t, s.Pi, true)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		old, err := s.SessionFile(bg)
		s.ok(err)

		// The store still has the text; the context of a new session has not.
		s.ok(s.NewSession(bg))
		s.want(s.read("a.txt"), text)
		s.want(s.read("b.txt", 10, 20), part(text, 10, 29))
		s.ok(s.SwitchSession(bg, old))
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}
