package scenario

import "testing"

// Migration plan 9.2: "read (full), read (unchanged), append compaction with firstKeptEntryId pointing
// to unchanged entry, read again: assert next mode is full, not unchanged". The stub is all that the
// compaction keeps, and the model does not have the text any more.
func TestMigration_9_2_NonAnchorDoesNotBootstrap(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.rewritten(func(list []entry) []entry {
			call := list[results(list)[1]-1] // pi keeps from a message on that is no tool result
			return append(list, compaction(call["id"].(string)))
		})
		req := s.say("what do you see?")
		if !req.Contains("[readcache: unchanged, 101 lines]") || req.Contains(slice(text, 40, 60)) {
			s.t.Fatal("the compaction was to keep the stub and nothing of the text")
		}
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		if !s.say("and now?").Contains(text) {
			s.t.Error("the text that the last stub refers to is not in the request")
		}
	})
}

// The same with the stub itself as the kept entry, to the letter of the plan. pi drops a result
// without its call from the request or keeps it; the answer is the same.
func TestMigration_9_2_KeptEntryIsTheStub(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.rewritten(func(list []entry) []entry {
			return append(list, compaction(list[results(list)[1]]["id"].(string)))
		})
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Migration plan 9.3: "establish full trust at hash H1, establish exact range trust at older hash H0,
// request same range: assert chosen base is H1 (fresher seq)". What tells the bases apart is what the
// model received: against H1 the lines are unchanged in an unchanged file; against H0 the file has
// changes elsewhere.
func TestMigration_9_3_FreshestBase(t *testing.T) {
	play(t, func(s *stage) {
		h0 := numbered(100)
		s.write("a.txt", h0)
		s.want(s.read("a.txt", 10, 20), part(h0, 10, 29))
		h1 := s.change("a.txt", "line 70 ", "LINE 70 ")
		s.want(s.read("a.txt"), h1)
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
	})
}

// And in the lines themselves: H0 would answer "unchanged" for a file that went back to H0, although
// the model saw H1 last.
func TestMigration_9_3_StaleBaseIsNotChosen(t *testing.T) {
	play(t, func(s *stage) {
		h0 := numbered(100)
		s.write("a.txt", h0)
		s.want(s.read("a.txt", 10, 20), part(h0, 10, 29))
		h1 := s.change("a.txt", "line 20 ", "LINE 20 ")
		s.want(s.read("a.txt"), h1)
		s.write("a.txt", h0)
		s.want(s.read("a.txt", 10, 20), part(h0, 10, 29))
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
	})
}
