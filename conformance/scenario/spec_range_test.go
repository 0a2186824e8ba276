package scenario

import (
	"testing"
)

// Spec 21.2, 5: "first range read full slice".
func TestSpec21_05_FirstRangeRead(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("a.txt", 60), slice(text, 60, 101)) // another range, to the end of the file
		s.wantStub(s.read("a.txt", 60), "unchanged in lines 60-101 of 101")
	})
}

// Spec 21.2, 6: "unchanged same range marker".
func TestSpec21_06_SameRangeMarker(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
		s.wantStub(s.read("a.txt:10-29"), "unchanged in lines 10-29 of 101")
		s.want(s.read("a.txt", 10, 21), part(text, 10, 30)) // one line more was never delivered
	})
}

// Spec 21.2, 7: "file changed outside range -> unchanged_range marker".
func TestSpec21_07_FileChangedOutsideRange(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.change("a.txt", "line 70 ", "LINE 70 ")
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29; changes exist outside this range")
		s.change("a.txt", "line 9 ", "LINE 9 ") // the line above, same number of lines
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29; changes exist outside this range")
	})
}

// Spec 21.2, 8: "file changed affecting range -> full range fallback".
func TestSpec21_08_FileChangedInRange(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		text = s.change("a.txt", "line 29 ", "LINE 29 ") // its last line
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
		text = s.change("a.txt", "line 10 ", "LINE 10 ") // its first line
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
	})
}

// Spec 21.2, 9: "insertion before range causing shift -> treated as range changed".
func TestSpec21_09_InsertionBeforeRange(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
		shifted := s.change("a.txt", "line 5 ", "inserted\nline 5 ")
		s.want(s.read("a.txt", 10, 20), part(shifted, 10, 29)) // the text of old 9-28
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 102")
	})
}

// Spec 21.2, 10: "malformed range rejected".
func TestSpec21_10_MalformedRangeRejected(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		for suffix, why := range map[string]string{
			":20-10":                "end 10 is before start 20",
			":0":                    "lines are counted from 1",
			":0-5":                  "lines are counted from 1",
			":99999999999999999999": "line number 99999999999999999999 is too large",
		} {
			s.want(s.fails(s.path("a.txt")+suffix),
				"Invalid line range \""+suffix+"\": "+why+". Use path:line or path:start-end, with 1 <= start <= end.")
		}
		s.want(s.read("a.txt"), text) // an error delivers nothing
		s.fails(s.path("a.txt") + ":20-10")
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines") // and takes nothing away
	})
}
