package scenario

import (
	"strings"
	"testing"
)

// TestMainJob is the main job in one breath.
func TestMainJob(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
		changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
		got := s.read("a.txt")
		for _, part := range []string{"[readcache: 1 lines changed of 101]\n", "--- a/", "\n-line 50 ", "\n+LINE 50 "} {
			if !strings.Contains(got, part) {
				t.Errorf("the model received no %q:\n%s", part, got)
			}
		}
		s.wantStub(s.read("a.txt", 45, 10), "unchanged in lines 45-54 of 101")
		s.write("a.txt", strings.ToUpper(changed))
		s.want(s.read("a.txt"), strings.ToUpper(changed))
	})
}
