package scenario

import (
	"testing"

	"deja/conformance/scripted"
)

// Class 15: an entry is edited out of the model's context afterwards (pi 0.87, context_edit).

// read of a whole file, then omitted.
func TestLie15_OmittedRead(t *testing.T) {
	play(t, func(s *stage) {
		s.needsEdits()
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		before := s.here()
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.ok(s.Tree(bg, before))
		s.ok(s.Omit(bg, s.result().ID))
		if s.say("and now?").Contains("line 50 of the file") {
			s.t.Fatal("the edit left the text in the request: it shows nothing")
		}
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.ok(s.Tree(bg, before)) // the edit is not on this branch
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// A read of a whole file, then replaced by something else.
func TestLie15_ReplacedRead(t *testing.T) {
	play(t, func(s *stage) {
		s.needsEdits()
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.ok(s.Replace(bg, s.result().ID, "see above"))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// The carrier of a stub is omitted after the stub was served.
func TestLie15_OmittedCarrierOfStub(t *testing.T) {
	play(t, func(s *stage) {
		s.needsEdits()
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		carrier := s.result().ID
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
		s.ok(s.Omit(bg, carrier))
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("a.txt"), text)
	})
}

// A diff is omitted: the model is back at the version before it.
func TestLie15_OmittedDiff(t *testing.T) {
	play(t, func(s *stage) {
		s.needsEdits()
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
		s.wantDiff(s.read("a.txt"), text, changed)
		diff := s.result().ID
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.ok(s.Omit(bg, diff))
		// "unchanged" would be a lie now. A diff from the first read is true.
		s.want(s.read("a.txt", 45, 10), part(changed, 45, 54))
		got := s.read("a.txt")
		if got != changed {
			s.wantDiff(got, text, changed)
		}
	})
}

// A diff is replaced: what the model believes of the file now is anybody's guess.
func TestLie15_ReplacedDiff(t *testing.T) {
	play(t, func(s *stage) {
		s.needsEdits()
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
		s.wantDiff(s.read("a.txt"), text, changed)
		s.ok(s.Replace(bg, s.result().ID, "[1 line changed]"))
		s.want(s.read("a.txt"), changed)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// The assistant message that holds the call is omitted; its result goes with it.
func TestLie15_OmittedCall(t *testing.T) {
	play(t, func(s *stage) {
		s.needsEdits()
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.ok(s.Omit(bg, s.caller().ID))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// The edit comes between the tool result and the next request of the same run.
func TestLie15_EditAtTurnEnd(t *testing.T) {
	play(t, func(s *stage) {
		s.needsEdits()
		text := numbered(100)
		s.write("a.txt", text)
		read := scripted.Read(s.path("a.txt"))
		for _, what := range []string{"omit last", "replace last shorter"} {
			s.ok(s.AtBoundary(bg, "turn_end", what))
			got := s.run(read, read, read)
			if got[0] == text {
				s.t.Fatalf("%s: the edit came too late, it shows nothing", what)
			}
			s.want(got[1], text)
			s.wantStub(got[2], "unchanged, 101 lines")
			s.ok(s.NewSession(bg))
		}
	})
}
