package trust

import "slices"

// Base is a version of a file that the model provably has, for the lines asked about.
type Base struct {
	Hash  string
	Lines int // lines of that version
	// Unproven lists the deliveries it rests on whose stored text still has to be compared with
	// their version (Read.Text). Empty where all results are deja's.
	Unproven []Delivery
}

// Delivery is a delivery that came without a digest of its own.
type Delivery struct {
	Hash  string // the version it is said to be of
	Scope Scope
	Text  string // digest of the text that the session holds
}

// Range returns the base for lines lo..hi of path whose version on disk is current (spec 4.7).
// The freshest view of each line must be of one version or of the current one, and that version
// must cover all of lo..hi.
func (s State) Range(path string, lo, hi int, current string) (Base, bool) {
	f := s.file(path)
	if f == nil || lo < 1 || hi < lo {
		return Base{}, false
	}
	seen, unseen, ok := f.view(lo, hi)
	if !ok || len(unseen) > 0 {
		return Base{}, false
	}
	hash, ok := oneVersion(seen, current)
	if !ok || !f.covers(hash, lo, hi) {
		return Base{}, false
	}
	return f.base(hash, current), true
}

// Entire returns the base for the whole of path: a version of which every line was delivered and
// that no fresher view contradicts (spec 4.7).
func (s State) Entire(path, current string) (Base, bool) {
	f := s.file(path)
	if f == nil {
		return Base{}, false
	}
	seen, unseen, ok := f.view(1, endless)
	if !ok {
		return Base{}, false
	}
	hash, ok := oneVersion(seen, current)
	if !ok || !f.coversWhole(hash) {
		return Base{}, false
	}
	// What was never seen must lie past the last line, where there is nothing to see.
	if len(unseen) > 0 && unseen[0].lo <= f.linesOf(hash) {
		return Base{}, false
	}
	return f.base(hash, current), true
}

// oneVersion returns the version in view that is not current, if there is just one, and current
// if there is none.
func oneVersion(view []string, current string) (string, bool) {
	hash := current
	for _, h := range view {
		if h == current || h == hash {
			continue
		}
		if hash != current {
			return "", false
		}
		hash = h
	}
	return hash, len(view) > 0
}

type span struct{ lo, hi int }

// view lists the versions that the model saw last of the lines lo..hi, and the lines of them that
// it never saw, in order. It is not ok if any of the lines is doubted.
func (f *file) view(lo, hi int) (seen []string, unseen []span, ok bool) {
	unseen = []span{{lo, hi}}
	for _, x := range f.byFreshness() {
		left, hit := subtract(unseen, x.lo, x.hi)
		if !hit {
			continue
		}
		if x.hash == "" {
			return nil, nil, false
		}
		seen = append(seen, x.hash)
		if unseen = left; len(unseen) == 0 {
			break
		}
	}
	return seen, unseen, true
}

// covers reports whether slots of this version cover lines lo..hi and none of the lines has been
// doubted since.
func (f *file) covers(hash string, lo, hi int) bool {
	rest := []span{{lo, hi}}
	for _, x := range f.byFreshness() {
		if x.hash != hash && x.hash != "" {
			continue
		}
		left, hit := subtract(rest, x.lo, x.hi)
		if hit && x.hash == "" {
			return false
		}
		if rest = left; len(rest) == 0 {
			return true
		}
	}
	return false
}

func (f *file) coversWhole(hash string) bool {
	if f == nil {
		return false
	}
	if f.full != nil && f.full.hash == hash {
		return f.covers(hash, 1, endless)
	}
	n := f.linesOf(hash)
	return n > 0 && f.covers(hash, 1, n)
}

// linesOf returns the number of lines of a version, 0 if it is not in any slot. Slots that
// disagree come from damaged metadata; the larger number is the harder one to cover.
func (f *file) linesOf(hash string) int {
	n := 0
	for _, x := range f.slots() {
		if x.hash == hash {
			n = max(n, x.lines)
		}
	}
	return n
}

func (f *file) base(hash, current string) Base {
	return Base{Hash: hash, Lines: f.linesOf(hash), Unproven: f.unproven(hash, current)}
}

// unproven lists what is owed for the slots of two versions: of a base, and of the current one,
// whose lines a claim passes over as seen.
func (f *file) unproven(hash, current string) []Delivery {
	var list []Delivery
	for _, x := range f.slots() {
		if x.hash != hash && x.hash != current {
			continue
		}
		for _, d := range x.owed {
			if !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
	}
	return list
}

func (f *file) slots() []slot {
	if f.full == nil {
		return f.ranges
	}
	return append([]slot{*f.full}, f.ranges...)
}

// layer is a slot or, with an empty hash, a doubt.
type layer struct {
	lo, hi int
	hash   string
	seq    int64
}

// byFreshness lists slots and doubts, the freshest first; a doubt outranks a slot of its own seq.
func (f *file) byFreshness() []layer {
	if f == nil {
		return nil
	}
	list := make([]layer, 0, len(f.ranges)+len(f.doubts)+1)
	for _, d := range f.doubts {
		list = append(list, layer{d.lo, d.hi, "", d.seq})
	}
	for _, x := range f.slots() {
		lo, hi := x.scope.bounds()
		list = append(list, layer{lo, hi, x.hash, x.seq})
	}
	slices.SortStableFunc(list, func(a, b layer) int { return int(b.seq - a.seq) })
	return list
}

// subtract takes lo..hi out of the spans; hit says whether there was anything to take.
func subtract(spans []span, lo, hi int) (left []span, hit bool) {
	for _, s := range spans {
		if hi < s.lo || s.hi < lo {
			left = append(left, s)
			continue
		}
		hit = true
		if s.lo < lo {
			left = append(left, span{s.lo, lo - 1})
		}
		if hi < s.hi {
			left = append(left, span{hi + 1, s.hi})
		}
	}
	return left, hit
}
