package linediff

import "context"

// A block is a run of changed lines: lines [a0,a1) of the base became lines
// [b0,b1) of the current version. At least one of the two is not empty.
type block struct{ a0, a1, b0, b1 int }

// changed is how many lines the block counts for in [Diff.Changed].
func (k block) changed() int { return max(k.a1-k.a0, k.b1-k.b0) }

// work counts what a comparison did. It is the same for the same input on every
// machine, so tests bound it instead of the clock.
type work struct {
	steps  int // diagonals visited plus lines matched by the search
	splits int // boxes divided
	capped int // of these, divided at the cost cap
	astray int // boxes not divided because the point was unfit; 0 unless we erred
	slides int // lines that blocks were moved over
}

// compare returns the blocks that turn a into b, in order, with at least one
// unchanged line between two of them.
func compare(ctx context.Context, a, b []string) ([]block, work, error) {
	pre := 0
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		pre++
	}
	suf := 0
	for suf < len(a)-pre && suf < len(b)-pre && a[len(a)-1-suf] == b[len(b)-1-suf] {
		suf++
	}
	midA, midB := a[pre:len(a)-suf], b[pre:len(b)-suf]

	s := newSearch(ctx, midA, midB)
	if err := s.run(); err != nil {
		return nil, s.work, err
	}
	blocks := s.blocks()
	for i := range blocks {
		k := &blocks[i]
		k.a0, k.a1, k.b0, k.b1 = k.a0+pre, k.a1+pre, k.b0+pre, k.b1+pre
	}
	blocks, slides := slide(a, b, blocks)
	s.work.slides = slides
	return blocks, s.work, ctx.Err()
}

// newSearch prepares the comparison of a and b: equal lines get equal numbers, and
// lines that the other side does not have at all are marked as changed and left
// out. Leaving them out cannot cost a match, and it is what makes large rewrites
// cheap: most new lines are new everywhere.
func newSearch(ctx context.Context, a, b []string) *search {
	s := &search{ctx: ctx, onlyA: make([]bool, len(a)), onlyB: make([]bool, len(b))}
	numsA, numsB, kinds := number(a, b)
	inB := make([]bool, kinds)
	s.b = make([]int32, 0, len(b))
	s.posB = make([]int32, 0, len(b))
	for j, id := range numsB {
		if id == notInA {
			s.onlyB[j] = true
			continue
		}
		inB[id] = true
		s.b = append(s.b, id)
		s.posB = append(s.posB, int32(j))
	}
	s.a = make([]int32, 0, len(a))
	s.posA = make([]int32, 0, len(a))
	for i, id := range numsA {
		if !inB[id] {
			s.onlyA[i] = true
			continue
		}
		s.a = append(s.a, id)
		s.posA = append(s.posA, int32(i))
	}
	return s
}

// notInA is the number of every line of b that a does not have.
const notInA = -1

// number gives equal lines equal numbers, from 0 to kinds-1 in order of first use.
//
// A hash table of our own with open addressing was tried instead of the map: no
// gain that could be told from noise. The guess at the next line was worth 15 % of
// a whole diff of 12 000 lines with 1 % changed.
func number(a, b []string) (numsA, numsB []int32, kinds int) {
	const repeated = -1
	ids := make(map[string]int32, len(a))
	at := make([]int, 0, len(a)) // by number: where in a the line is, or repeated
	numsA = make([]int32, len(a))
	for i, line := range a {
		id, ok := ids[line]
		if ok {
			at[id] = repeated
		} else {
			id = int32(len(at))
			ids[line] = id
			at = append(at, i)
		}
		numsA[i] = id
	}
	numsB = make([]int32, len(b))
	next := 0 // the line of a that the coming line of b probably equals
	for j, line := range b {
		if next < len(a) && a[next] == line {
			numsB[j] = numsA[next] // far cheaper than a look-up
			next++
			continue
		}
		id, ok := ids[line]
		if !ok {
			numsB[j] = notInA
			continue
		}
		numsB[j] = id
		if at[id] != repeated {
			next = at[id]
		}
		next++
	}
	return numsA, numsB, len(at)
}

// blocks reads the marks of a finished search. Unmarked lines pair up in order.
func (s *search) blocks() []block {
	var out []block
	i, j := 0, 0
	for i < len(s.onlyA) || j < len(s.onlyB) {
		k := block{a0: i, b0: j}
		for i < len(s.onlyA) && s.onlyA[i] {
			i++
		}
		for j < len(s.onlyB) && s.onlyB[j] {
			j++
		}
		if i > k.a0 || j > k.b0 {
			k.a1, k.b1 = i, j
			out = append(out, k)
		}
		// Both sides are at an unmarked line here, or both at their end.
		if i < len(s.onlyA) && j < len(s.onlyB) {
			i++
			j++
		}
	}
	return out
}
