package scenario

import (
	"fmt"
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/scripted"
)

// Plan 7, 1: "Path exists with literal ':' and no explicit offset/limit."
func TestPlan7_01_LiteralColon(t *testing.T) {
	play(t, func(s *stage) {
		base, odd := numbered(100), strings.ToUpper(numbered(80))
		s.write("a.txt", base)
		s.want(s.read("a.txt"), base)
		s.wantStub(s.read("a.txt:3-40"), "unchanged in lines 3-40 of 101") // no such file yet: a range
		s.write("a.txt:3-40", odd)
		s.want(s.read("a.txt:3-40"), odd) // now it is a file, and not one that has been read
		s.wantStub(s.read("a.txt:3-40"), "unchanged, 81 lines")
		s.wantStub(s.read("a.txt:3-40:10-29"), "unchanged in lines 10-29 of 81")
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Plan 7, 2: "Path shorthand parse only when safe."
func TestPlan7_02_ShorthandOnlyWhenSafe(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt:10-29"), part(text, 10, 29))
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101") // the same scope
		s.want(s.read("a.txt:50"), part(text, 50, 50))                         // one line
		got := s.batch(scripted.Read("@" + s.path("a.txt") + ":60-61"))
		s.want(got[0], part(text, 60, 61))
	})
}

// The rules that leave a path as it is: explicit numbers, no such file, no range.
func TestPlan7_02_NotShorthand(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		for path, o := range map[string][2]int{
			"a.txt:10-29":    {1, 5}, // explicit numbers: the path is a path
			"none.txt:10-29": {0, 0}, // nothing there before the colon
			"a.txt:ten":      {0, 0}, // not a number
			"a.txt:10-":      {0, 0}, // not a range
			"a.txt:-5":       {0, 0}, // not a range
		} {
			got := s.fails(s.path(path), o[0], o[1])
			if !strings.HasPrefix(got, "ENOENT") || !strings.Contains(got, path+"'") {
				s.t.Errorf("read %s %v: the model received %q", path, o, got)
			}
		}
		s.wantStub(s.read("a.txt:10-29"), "unchanged in lines 10-29 of 101")
	})
}

// nothing is what pi tells the model for an empty result.
func (s *stage) nothing() string {
	if s.Options.Line == realpi.Line073 {
		return "(see attached image)"
	}
	return "(no tool output)"
}

// Plan 7, 3: "offset beyond EOF uses built-in error behavior."
func TestPlan7_03_OffsetBeyondEOF(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		const beyond = "Offset 150 is beyond end of file (101 lines total)"
		s.want(s.fails(s.path("a.txt"), 150, 10), beyond)
		s.want(s.read("a.txt"), text)
		s.want(s.fails(s.path("a.txt"), 150, 10), beyond) // no claim for lines that are not there
		s.want(s.fails(s.path("a.txt:150-159")), beyond)
		s.want(s.read("a.txt", 101, 50), s.nothing()) // the last, empty line is there, and shorter than a claim
		longer := text + strings.ReplaceAll(numbered(100), "line ", "more ")
		s.write("a.txt", longer)
		s.want(s.read("a.txt", 150, 10), part(longer, 150, 159)) // what was an error is content now
		s.wantStub(s.read("a.txt", 150, 10), "unchanged in lines 150-159 of 201")
	})
}

// Plan 7, 4: "Empty file, single-line file, trailing newline differences."
func TestPlan7_04_EmptyAndNewlines(t *testing.T) {
	play(t, func(s *stage) {
		s.write("empty.txt", "")
		for range 2 { // a claim would be longer than nothing
			s.want(s.read("empty.txt"), s.nothing())
		}
		single := strings.Repeat("one long line ", 40)
		s.write("single.txt", single)
		s.want(s.read("single.txt"), single)
		s.wantStub(s.read("single.txt"), "unchanged, 1 lines")
		s.write("single.txt", single+"\n") // a diff would be longer than the text
		s.want(s.read("single.txt"), single+"\n")
		s.wantStub(s.read("single.txt"), "unchanged, 2 lines")
		s.write("single.txt", single)
		s.want(s.read("single.txt"), single)

		text := numbered(100)
		s.write("many.txt", text)
		s.want(s.read("many.txt"), text)
		bare := strings.TrimSuffix(text, "\n")
		s.write("many.txt", bare)
		rest := slice(text, 100, 100) + "\n"
		const bareMark = "\\ No newline at end of file\n"
		diff := func(changed string, total int) string {
			p := s.path("many.txt")
			return fmt.Sprintf("[readcache: 1 lines changed of %d]\n--- a/%s\n+++ b/%s\n@@ -97,4 +97,4 @@\n", total, p, p) +
				" " + strings.Join(strings.Split(slice(text, 97, 99), "\n"), "\n ") + "\n" + changed
		}
		s.want(s.read("many.txt"), diff("-"+rest+"+"+rest+bareMark, 100))
		s.wantStub(s.read("many.txt"), "unchanged, 100 lines")
		s.write("many.txt", text)
		s.want(s.read("many.txt"), diff("-"+rest+bareMark+"+"+rest, 101))
	})
}

// Plan 7, 5: "Insertions before a range shift line positions." And deletions; a shift that leaves the
// numbered lines equal is no change.
func TestPlan7_05_ShiftedLines(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		cut := s.change("a.txt", slice(text, 5, 5)+"\n", "")
		s.want(s.read("a.txt", 10, 20), part(cut, 10, 29))
		s.change("a.txt", slice(text, 50, 50)+"\n", "a line\nmore than one\n")
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29; changes exist outside this range")
		s.wantStub(s.read("a.txt", 60, 5), "unchanged in lines 60-64; changes exist outside this range") // back in place
		s.write("a.txt", text)
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29)) // the last seen was the shifted one

		same := strings.Repeat("the same line again and again, word for word\n", 60)
		s.write("same.txt", same)
		s.want(s.read("same.txt"), same)
		s.change("same.txt", "the same", "the same line again and again, word for word\nthe same")
		s.wantStub(s.read("same.txt", 10, 20), "unchanged in lines 10-29; changes exist outside this range")
	})
}

// Plan 7, 6: "File changed outside range." The stub moves nothing: the next full read shows the change.
func TestPlan7_06_ChangeElsewhereIsStillNews(t *testing.T) {
	play(t, func(s *stage) {
		first := numbered(300)
		s.write("a.txt", first)
		s.want(s.read("a.txt"), first)
		second := s.change("a.txt", "line 10 ", "LINE 10 ")
		s.wantStub(s.read("a.txt", 200, 11), "unchanged in lines 200-210; changes exist outside this range")
		s.want(s.read("a.txt"), s.oneLine("a.txt", first, second, 10))
		third := s.change("a.txt", "line 150 ", "LINE 150 ")
		s.wantStub(s.read("a.txt", 200, 11), "unchanged in lines 200-210; changes exist outside this range")
		s.want(s.read("a.txt", 145, 10), part(third, 145, 154))
		s.wantStub(s.read("a.txt", 140, 5), "unchanged in lines 140-144; changes exist outside this range")
	})
}

// Plan 7, 7: "Full scope base present, range scope absent."
func TestPlan7_07_FullBaseForRanges(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		path := s.path("a.txt")
		got := s.batch(scripted.ReadRange(path, 1, 20), scripted.ReadRange(path, 50, 0), scripted.ReadRange(path, 0, 30))
		s.wantStub(got[0], "unchanged in lines 1-20 of 101")
		s.wantStub(got[1], "unchanged in lines 50-101 of 101")
		s.wantStub(got[2], "unchanged in lines 1-30 of 101")
		text = s.change("a.txt", "line 60 ", "LINE 60 ")
		s.want(s.read("a.txt", 55, 10), part(text, 55, 64))
		s.wantStub(s.read("a.txt", 1, 40), "unchanged in lines 1-40; changes exist outside this range")
	})
}
