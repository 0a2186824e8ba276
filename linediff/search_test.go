package linediff

import (
	"math"
	"testing"
)

// The box is lines 10 to 20 of a and 30 to 40 of b. Each case sets the ends of one
// path on one diagonal, some a line past the edge, and leaves all others behind.
func TestFurthestStaysInTheBox(t *testing.T) {
	const a0, a1, b0, b1 = 10, 20, 30, 40
	for _, c := range []struct {
		name     string
		fwd, bwd map[int]int // diagonal to x
		x, y     int
	}{
		{"forward", map[int]int{-20: 15, -22: 11}, nil, 15, 35},
		{"backward", map[int]int{-20: 11}, map[int]int{-20: 13, -18: 19}, 13, 33},
		{"forward past the end of a", map[int]int{-18: 21}, nil, 20, 38},
		{"forward past the end of b", map[int]int{-22: 19}, nil, 18, 40},
		{"backward before the start of a", nil, map[int]int{-22: 9}, 10, 32},
		{"backward before the start of b", nil, map[int]int{-18: 11}, 12, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &search{zero: 50, fwd: make([]int32, 100), bwd: make([]int32, 100)}
			for i := range s.fwd {
				s.fwd[i], s.bwd[i] = -1, math.MaxInt16
			}
			for d, x := range c.fwd {
				s.fwd[s.zero+d] = int32(x)
			}
			for d, x := range c.bwd {
				s.bwd[s.zero+d] = int32(x)
			}
			f := front{lo: -22, hi: -18, min: a0 - b1, max: a1 - b0}
			if x, y := s.furthest(f, f, a0, a1, b0, b1); x != c.x || y != c.y {
				t.Errorf("got %d,%d, want %d,%d", x, y, c.x, c.y)
			}
		})
	}
}
