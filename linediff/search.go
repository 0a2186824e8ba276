package linediff

import (
	"context"
	"math"
)

const (
	// maxCost is the number of edits after which the search of one box stops looking
	// for the middle of a minimal path and divides the box at the furthest point it
	// has reached. Each such division gets at least maxCost lines further, so all of
	// them together cost O((N+M)·maxCost).
	maxCost = 256

	// checkEvery is the work, in steps, between two looks at the context. A step
	// takes a few nanoseconds.
	checkEvery = 1 << 15
)

// A search compares two sequences of line numbers by Myers' algorithm ("An O(ND)
// Difference Algorithm and Its Variations", 1986, section 4b) and marks the lines
// that are not part of the common subsequence it finds.
//
// A diagonal d holds the points (x,y) with x-y = d. fwd[d] is the furthest x that
// a path of the current cost from the start of the box reaches on d, bwd[d] the
// nearest x that one from its end reaches, going back. Both are offset by zero.
type search struct {
	ctx        context.Context
	a, b       []int32 // line numbers of the lines that both sides have
	posA, posB []int32 // where these stand in onlyA and onlyB

	onlyA, onlyB []bool // marks: the line is changed

	fwd, bwd []int32
	zero     int

	work      work
	nextCheck int
}

// run marks every line that is not common to both sides.
func (s *search) run() error {
	s.zero = len(s.b) + 1
	v := make([]int32, 2*(len(s.a)+len(s.b)+3))
	s.fwd, s.bwd = v[:len(v)/2], v[len(v)/2:]
	return s.box(0, len(s.a), 0, len(s.b))
}

// box compares a[a0:a1] with b[b0:b1]. It recurses into the smaller part of a
// divided box only, so its depth is logarithmic.
func (s *search) box(a0, a1, b0, b1 int) error {
	for {
		start := a0
		for a0 < a1 && b0 < b1 && s.a[a0] == s.b[b0] {
			a0, b0 = a0+1, b0+1
		}
		end := a1
		for a0 < a1 && b0 < b1 && s.a[a1-1] == s.b[b1-1] {
			a1, b1 = a1-1, b1-1
		}
		s.work.steps += a0 - start + end - a1
		if a0 == a1 || b0 == b1 {
			s.mark(a0, a1, b0, b1)
			return nil
		}
		x, y, err := s.divide(a0, a1, b0, b1)
		if err != nil {
			return err
		}
		left, right := x-a0+y-b0, a1-x+b1-y
		if x < a0 || x > a1 || y < b0 || y > b1 || left == 0 || right == 0 {
			// Cannot happen; but if it did, the loop would have no end, and a
			// longer diff is better than that.
			s.work.astray++
			s.mark(a0, a1, b0, b1)
			return nil
		}
		if left < right {
			err = s.box(a0, x, b0, y)
			a0, b0 = x, y
		} else {
			err = s.box(x, a1, y, b1)
			a1, b1 = x, y
		}
		if err != nil {
			return err
		}
	}
}

func (s *search) mark(a0, a1, b0, b1 int) {
	for _, i := range s.posA[a0:a1] {
		s.onlyA[i] = true
	}
	for _, j := range s.posB[b0:b1] {
		s.onlyB[j] = true
	}
}

// divide returns a point of the box, other than its two corners, through which a
// shortest path goes, or at least a good one if the shortest costs over 2·maxCost.
// The box has lines on both sides, and neither the first two nor the last two match.
func (s *search) divide(a0, a1, b0, b1 int) (x, y int, err error) {
	s.work.splits++
	f := front{lo: a0 - b0, hi: a0 - b0, min: a0 - b1, max: a1 - b0}
	r := front{lo: a1 - b1, hi: a1 - b1, min: a0 - b1, max: a1 - b0}
	odd := (f.lo-r.lo)&1 != 0
	s.fwd[s.zero+f.lo] = int32(a0)
	s.bwd[s.zero+r.lo] = int32(a1)

	for cost := 1; ; cost++ {
		if s.work.steps >= s.nextCheck {
			if err := s.ctx.Err(); err != nil {
				return 0, 0, err
			}
			s.nextCheck = s.work.steps + checkEvery
		}
		// Paths from both ends can only meet on a forward step if the length of
		// the shortest path is odd, and only on a backward step if it is even.
		f.widen(s.fwd, s.zero, -1)
		if d, ok := s.forward(f, a1, b1, r, odd); ok {
			x := int(s.fwd[s.zero+d])
			return x, x - d, nil
		}
		r.widen(s.bwd, s.zero, math.MaxInt32)
		if d, ok := s.backward(r, a0, b0, f, !odd); ok {
			x := int(s.bwd[s.zero+d])
			return x, x - d, nil
		}
		if cost >= maxCost {
			s.work.capped++
			x, y := s.furthest(f, r, a0, a1, b0, b1)
			return x, y, nil
		}
	}
}

// A front is the range of diagonals lo, lo+2, … hi that the paths of one cost end
// on, inside the range min to max of the box.
type front struct{ lo, hi, min, max int }

// widen moves the front to the next cost. A side that leaves the box turns back
// in by one instead, which keeps the parity. The diagonals just outside get the
// value none, so that the step loops need no test for the ends.
func (f *front) widen(v []int32, zero int, none int32) {
	if f.lo > f.min {
		f.lo--
		v[zero+f.lo-1] = none
	} else {
		f.lo++
	}
	if f.hi < f.max {
		f.hi++
		v[zero+f.hi+1] = none
	} else {
		f.hi--
	}
}

// forward extends the forward paths by one edit and the matches after it. If meet
// is set and a path reaches one from the end, it returns the diagonal.
func (s *search) forward(f front, a1, b1 int, r front, meet bool) (int, bool) {
	for d := f.hi; d >= f.lo; d -= 2 {
		x := int(s.fwd[s.zero+d+1]) // a line of b is added
		if l := int(s.fwd[s.zero+d-1]); l >= x {
			x = l + 1 // a line of a is removed
		}
		start := x
		for x < a1 && x-d < b1 && s.a[x] == s.b[x-d] {
			x++
		}
		s.fwd[s.zero+d] = int32(x)
		s.work.steps += 1 + x - start
		if meet && r.lo <= d && d <= r.hi && int(s.bwd[s.zero+d]) <= x {
			return d, true
		}
	}
	return 0, false
}

// backward is forward from the other end.
func (s *search) backward(r front, a0, b0 int, f front, meet bool) (int, bool) {
	for d := r.hi; d >= r.lo; d -= 2 {
		x := int(s.bwd[s.zero+d-1])
		if g := int(s.bwd[s.zero+d+1]); g <= x {
			x = g - 1
		}
		start := x
		for x > a0 && x-d > b0 && s.a[x-1] == s.b[x-d-1] {
			x--
		}
		s.bwd[s.zero+d] = int32(x)
		s.work.steps += 1 + start - x
		if meet && f.lo <= d && d <= f.hi && x <= int(s.fwd[s.zero+d]) {
			return d, true
		}
	}
	return 0, false
}

// furthest returns the end of the path that has come furthest from its corner.
// A path may have run one line past the edge of the box; such an end is pulled
// back along its diagonal.
func (s *search) furthest(f, r front, a0, a1, b0, b1 int) (x, y int) {
	best := -1
	for d := f.lo; d <= f.hi; d += 2 {
		px := min(int(s.fwd[s.zero+d]), a1, b1+d)
		if gain := px - a0 + px - d - b0; gain > best {
			best, x, y = gain, px, px-d
		}
	}
	for d := r.lo; d <= r.hi; d += 2 {
		px := max(int(s.bwd[s.zero+d]), a0, b0+d)
		if gain := a1 - px + b1 - (px - d); gain > best {
			best, x, y = gain, px, px-d
		}
	}
	return x, y
}
