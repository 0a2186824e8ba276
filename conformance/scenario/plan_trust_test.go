package scenario

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Plan 7, 14: "Non-text files delegated safely." A file that stops being text, and becomes text again.
func TestPlan7_14_TextThatTurnsBinary(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(50)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		latin := strings.Replace(text, "line 20 ", "l\xedne 20 ", 1)
		s.ok(os.WriteFile(s.abs("a.txt"), []byte(latin), 0o644))
		shown := strings.ToValidUTF8(latin, string(utf8.RuneError)) // as pi decodes it
		for range 2 {
			s.want(s.read("a.txt"), shown)
			s.want(s.read("a.txt", 10, 5), part(shown, 10, 14))
		}
		s.write("a.txt", text) // the model saw other text last
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 51 lines")
	})
}

// Plan 7, 15: "Very large files skip diff path": over 12 000 lines none is made. Just under, it is.
func TestPlan7_15_LargeFilesSkipDiff(t *testing.T) {
	play(t, func(s *stage) {
		for name, diff := range map[string]bool{"under.txt": true, "over.txt": false} {
			old := long(11_990)
			if !diff {
				old = long(12_001)
			}
			s.write(name, old)
			s.readAll(name, old)
			changed := s.change(name, "l100 2\n", "changed\n")
			got := s.read(name)
			if diff {
				s.want(got, s.oneLine(name, old, changed, 100))
				continue
			}
			if head := slice(changed, 1, 1990); !strings.HasPrefix(got, head) {
				s.t.Errorf("%s: the model received %.200s", name, got)
			}
			s.wantPart(got, "Use offset=2001 to continue.]")
			s.wantStub(s.read(name, 5000, 100), "unchanged in lines 5000-5099; changes exist outside this range")
		}
	})
}

// Plan 7, 16: "Post-compaction replay window with only non-anchor entries does not produce unchanged."
// Stubs for the file and for lines, none of their carriers.
func TestPlan7_16_OnlyStubsAfterCompaction(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		original, err := s.SessionFile(s.t.Context())
		s.ok(err)
		for range 2 {
			s.ok(s.SwitchSession(s.t.Context(), original))
			s.rewritten(func(list []entry) []entry { // right after the only carrier
				return insert(list, results(list)[0]+2, compaction("ffffffff"))
			})
			if s.say("what do you see?").Contains(slice(text, 40, 50)) {
				s.t.Fatal("the compaction was to take the text away")
			}
			s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
			s.want(s.read("a.txt"), text)
			s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		}
	})
}

// Plan 7, 17: "diff replay without trusted matching baseHash is ignored."
func TestPlan7_17_DiffWithoutItsBase(t *testing.T) {
	for name, spoil := range map[string]func(list []entry) []entry{
		"base compacted away": func(list []entry) []entry {
			return insert(list, results(list)[0]+2, compaction("ffffffff"))
		},
		"another base": func(list []entry) []entry {
			metadata(list[results(list)[1]])["baseHash"] = sha("some other text")
			return list
		},
		"no base": func(list []entry) []entry {
			delete(metadata(list[results(list)[1]]), "baseHash")
			return list
		},
		"base read of nothing": func(list []entry) []entry {
			metadata(list[results(list)[0]])["v"] = 2
			return list
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			play(t, func(s *stage) {
				first := numbered(100)
				s.write("a.txt", first)
				s.want(s.read("a.txt"), first)
				second := s.change("a.txt", "line 50 ", "LINE 50 ")
				s.want(s.read("a.txt"), s.oneLine("a.txt", first, second, 50))
				original, err := s.SessionFile(s.t.Context())
				s.ok(err)
				s.rewritten(spoil)
				s.want(s.read("a.txt"), second)
				s.wantStub(s.read("a.txt"), "unchanged, 101 lines")

				s.ok(s.SwitchSession(s.t.Context(), original)) // unspoiled, the diff is a base
				s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
			})
		})
	}
}

// Plan 7, 18: "Range request with both range/full candidates picks freshest by seq." Here the range is
// the fresher one.
func TestPlan7_18_FresherRangeOverFull(t *testing.T) {
	play(t, func(s *stage) {
		old := numbered(100)
		s.write("a.txt", old)
		s.want(s.read("a.txt"), old)
		fresh := s.change("a.txt", "line 20 ", "LINE 20 ")
		s.want(s.read("a.txt", 10, 20), part(fresh, 10, 29))
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101") // against the range, not the file
		s.wantStub(s.read("a.txt", 50, 10), "unchanged in lines 50-59; changes exist outside this range")
		s.write("a.txt", old)                              // what the full read showed
		s.want(s.read("a.txt", 10, 20), part(old, 10, 29)) // is not what the model saw last of these lines
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
	})
}
