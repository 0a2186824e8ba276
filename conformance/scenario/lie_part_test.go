package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"deja/conformance/scripted"
)

// Ways a read cache lies, 27-37: only a part reached the reader.

// short is a text of n short lines, of which pi delivers the first 2000.
func short(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

const cutNotice = "\n\n[Showing lines 1-2000 of 5001. Use offset=2001 to continue.]"

// Class 27, "truncated full read counted as full: R big; R big 4000-4009; R big".
func TestLie27_CutReadIsNotFull(t *testing.T) {
	play(t, func(s *stage) {
		text := short(5000)
		s.write("big.txt", text)
		s.want(s.read("big.txt"), slice(text, 1, 2000)+cutNotice)
		s.want(s.read("big.txt", 4000, 10), part(text, 4000, 4009))
		s.want(s.read("big.txt", 1995, 10), part(text, 1995, 2004))
		s.want(s.read("big.txt"), "[readcache: unchanged in lines 1-2000 of 5001]"+part(text, 1, 2000)[len(slice(text, 1, 2000)):])
		s.wantStub(s.read("big.txt", 500, 10), "unchanged in lines 500-509 of 5001")
		s.wantStub(s.read("big.txt", 4000, 10), "unchanged in lines 4000-4009 of 5001")
	})
}

// Class 27 with the limit of bytes: the cut is where the plain read says it is.
func TestLie27_CutByBytes(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(3000)
		s.write("big.txt", text)
		got := s.read("big.txt")
		m := regexp.MustCompile(`\[Showing lines 1-(\d+) of 3001 \(50\.0KB limit\)`).FindStringSubmatch(got)
		if m == nil {
			s.t.Fatalf("no cut: %.200s", got)
		}
		end, _ := strconv.Atoi(m[1])
		s.want(s.read("big.txt", end, 2), part(text, end, end+1))
		s.want(s.read("big.txt", end+2, 1), part(text, end+2, end+2))
		s.wantStub(s.read("big.txt", end, 1), fmt.Sprintf("unchanged in lines %d-%d of 3001", end, end))
		s.wantPart(s.read("big.txt"), fmt.Sprintf("[readcache: unchanged in lines 1-%d of 3001]\n\n[%d more lines in file. Use offset=%d to continue.]", end, 3001-end, end+1))
	})
}

// Class 28, "a diff with context the model never saw: R big (cut); edit past the cut; R big".
func TestLie28_DiffPastTheCut(t *testing.T) {
	play(t, func(s *stage) {
		text := short(5000)
		s.write("big.txt", text)
		s.want(s.read("big.txt"), slice(text, 1, 2000)+cutNotice)
		s.stored(text)
		changed := s.replace("big.txt", "line 4000\n", "LINE 4000\n")
		s.want(s.read("big.txt"), "[readcache: unchanged in lines 1-2000; changes exist outside this range]"+part(text, 1, 2000)[len(slice(text, 1, 2000)):])
		s.want(s.read("big.txt", 3999, 3), part(changed, 3999, 4001))
		changed = s.replace("big.txt", "line 100\n", "LINE 100\n")
		s.want(s.read("big.txt"), slice(changed, 1, 2000)+cutNotice)
	})
}

// Class 29, "nothing delivered: one line over the byte limit gives only a notice".
func TestLie29_OneLongLine(t *testing.T) {
	play(t, func(s *stage) {
		s.write("long.txt", strings.Repeat("x", 60_000)+"\nsecond line\n")
		notice := "[Line 1 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '1p' " + s.path("long.txt") + " | head -c 51200]"
		for range 3 {
			s.want(s.read("long.txt"), notice)
			s.want(s.read("long.txt", 1, 1), notice)
		}
		s.want(s.read("long.txt", 2, 2), "second line\n")

		// A long line further down ends the delivery above it.
		head := strings.Repeat("a line of the head\n", 50)
		s.write("tail.txt", head+strings.Repeat("x", 60_000)+"\n")
		s.want(s.read("tail.txt"), strings.TrimSuffix(head, "\n")+"\n\n[Showing lines 1-50 of 52 (50.0KB limit). Use offset=51 to continue.]")
		s.want(s.read("tail.txt"), "[readcache: unchanged in lines 1-50 of 52]"+"\n\n[2 more lines in file. Use offset=51 to continue.]")
		s.want(s.read("tail.txt", 51), strings.NewReplacer("Line 1", "Line 51", "'1p'", "'51p'", "long.txt", "tail.txt").Replace(notice))
	})
}

// Class 30, "a partial read counted as full: R f 1-5; R f".
func TestLie30_PartIsNotFull(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt", 1, 5), part(text, 1, 5))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")

		// All but the last, empty line is not all. Two parts that make up the whole are.
		s.write("b.txt", text)
		s.want(s.read("b.txt", 1, 100), part(text, 1, 100))
		s.want(s.read("b.txt"), text)
		s.write("c.txt", text)
		s.want(s.read("c.txt", 1, 60), part(text, 1, 60))
		s.want(s.read("c.txt", 61), slice(text, 61, 101))
		s.wantStub(s.read("c.txt"), "unchanged, 101 lines")
	})
}

// Class 31, "another range counted: R f 1-5; R f 200-210".
func TestLie31_OtherRange(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(300)
		s.write("a.txt", text)
		s.want(s.read("a.txt", 1, 5), part(text, 1, 5))
		s.want(s.read("a.txt", 200, 11), part(text, 200, 210))
		s.want(s.read("a.txt", 1, 6), part(text, 1, 6))
		s.want(s.read("a.txt", 205, 10), part(text, 205, 214))
		s.wantStub(s.read("a.txt", 2, 3), "unchanged in lines 2-4 of 301")
		s.wantStub(s.read("a.txt", 200, 15), "unchanged in lines 200-214 of 301")
	})
}

// Class 32, "a range past the end of file answered unchanged".
func TestLie32_PastTheEnd(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		for range 2 {
			s.want(s.read("a.txt", 102, 5), "Offset 102 is beyond end of file (101 lines total)")
			s.want(s.read("a.txt", 5000), "Offset 5000 is beyond end of file (101 lines total)")
		}
		s.wantStub(s.read("a.txt", 90, 50), "unchanged in lines 90-101 of 101")
		shrunk := numbered(50)
		s.write("a.txt", shrunk)
		s.want(s.read("a.txt", 90, 5), "Offset 90 is beyond end of file (51 lines total)")
		s.want(s.read("a.txt", 45, 50), slice(shrunk, 45, 51))
	})
}

// Class 35, "the pointer moved without delivery: R f; edit line 10; R f 200-210 → changes elsewhere;
// R f → unchanged".
func TestLie35_PointerMovedWithoutDelivery(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(300)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.stored(text)
		changed := s.replace("a.txt", "line 10 ", "LINE 10 ")
		s.wantStub(s.read("a.txt", 200, 11), "unchanged in lines 200-210; changes exist outside this range")
		s.want(s.read("a.txt", 8, 5), part(changed, 8, 12))
		got := s.read("a.txt")
		if got != changed {
			s.wantDiff(got, text, changed)
		}
		s.wantStub(s.read("a.txt"), "unchanged, 301 lines")
	})
}

// Class 35 without the look at line 10 in between.
func TestLie35_FullAfterElsewhere(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(300)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.stored(text)
		changed := s.replace("a.txt", "line 10 ", "LINE 10 ")
		s.wantStub(s.read("a.txt", 200, 11), "unchanged in lines 200-210; changes exist outside this range")
		s.wantDiff(s.read("a.txt"), text, changed)
	})
}

// Class 36, "a stub used as the carrier of the next stub".
func TestLie36_StubIsNoCarrier(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.talk()
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		_, err := s.Compact(bg)
		s.ok(err)
		req := s.say("and now?")
		if req.Contains("line 50 of the file") || !req.Contains("[readcache: unchanged, 101 lines]") {
			s.t.Fatal("the compaction was to keep the stub and not the text: it shows nothing")
		}
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("a.txt"), text)
	})
}

// Class 37, "an own edit vouches for the whole file".
func TestLie37_OwnEdit(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		edit := scripted.Edit(s.path("a.txt"), "line 3 of", "LINE 3 of")
		read := scripted.Read(s.path("a.txt"))
		changed := strings.Replace(text, "line 3 of", "LINE 3 of", 1)

		got := s.run(scripted.ReadRange(s.path("a.txt"), 1, 5), edit, scripted.ReadRange(s.path("a.txt"), 10, 5), read)
		s.want(got[0], part(text, 1, 5))
		s.want(got[2], part(changed, 10, 14))
		s.want(got[3], changed)

		s.stored(changed)
		again := strings.Replace(changed, "line 90 of", "LINE 90 of", 1)
		got = s.run(scripted.Edit(s.path("a.txt"), "line 90 of", "LINE 90 of"), read, read)
		s.wantDiff(got[1], changed, again)
		s.wantStub(got[2], "unchanged, 101 lines")

		// What the model wrote itself it has not read.
		got = s.run(scripted.Write(s.path("b.txt"), text), scripted.Read(s.path("b.txt")))
		s.want(got[1], text)
	})
}
