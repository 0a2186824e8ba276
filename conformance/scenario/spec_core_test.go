package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Spec 21.1, 1: "first full read".
func TestSpec21_01_FirstFullRead(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.write("b.txt", text)
		s.want(s.read("a.txt"), text)
		s.want(s.read("b.txt"), text) // the same content under another name is a first read too
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Spec 21.1, 2: "unchanged full read marker".
func TestSpec21_02_UnchangedFullReadMarker(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(300)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		for range 3 { // a user message in between: no run of repeats
			s.wantStub(s.read("a.txt"), "unchanged, 301 lines")
		}
		s.wantStub(s.read("a.txt", 1, 301), "unchanged, 301 lines") // all lines by number are the full scope
		if !s.say("what do you see?").Contains(text) {
			s.t.Error("the request with the stubs does not hold the text they refer to")
		}
	})
}

// Spec 21.1, 3: "changed full read diff".
func TestSpec21_03_ChangedFullReadDiff(t *testing.T) {
	play(t, func(s *stage) {
		first := numbered(100)
		s.write("a.txt", first)
		s.want(s.read("a.txt"), first)
		second := s.change("a.txt", "line 50 ", "LINE 50 ")
		s.want(s.read("a.txt"), s.oneLine("a.txt", first, second, 50))
		third := s.change("a.txt", "line 20 ", "LINE 20 ")
		s.want(s.read("a.txt"), s.oneLine("a.txt", second, third, 20)) // the base moves with the diff
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Spec 21.1, 4: "changed full read fallback when diff not useful".
func TestSpec21_04_FallbackWhenDiffNotUseful(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		shout := strings.ToUpper(text)
		s.write("a.txt", shout)
		s.want(s.read("a.txt"), shout)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines") // the fallback delivered: it is a base
		last := s.change("a.txt", "LINE 50 ", "line 50 ")
		s.want(s.read("a.txt"), s.oneLine("a.txt", shout, last, 50))
	})
}
