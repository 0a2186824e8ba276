package trust

import (
	"slices"

	"github.com/benbjohnson/immutable"
)

// The most slots and doubts kept for one path. Beyond it the oldest slot becomes a doubt, and
// the two oldest doubts become one: forgetting is always doubting, never trusting (spec 4.8).
const (
	maxRanges = 64
	maxDoubts = 64
	maxOwed   = 64 // deliveries that a claim may rest on before they are proven
)

// State is what the replay of a branch up to some entry proves. The zero State is the empty one,
// as at the root of a session and after a compaction (spec 4.6). States are immutable and safe
// for concurrent use.
type State struct {
	paths *immutable.Map[string, *file]
	seq   int64 // number of valid Read events so far in this replay window
}

// file is the trust in one path. Slots are those of the specification (full and each exact range
// are independent); doubts are lines whose latest view is not proven.
type file struct {
	full   *slot
	ranges []slot // in the order of their seq
	doubts []doubt
}

type slot struct {
	scope Scope
	hash  string
	seq   int64
	lines int // lines of version hash
	// owed are the deliveries behind the slot that are still to be proven. A derived result takes
	// over those of its base: a stub says nothing about the text it refers to.
	owed []Delivery
}

// doubt says: whatever was known of these lines at seq or before is no base any more.
type doubt struct {
	lo, hi int
	seq    int64
}

// Read applies a read result (spec 4.3). It reports whether trust was established or advanced;
// a derived result whose base is not proven only leaves a doubt behind.
func (s State) Read(r Read) (State, bool) {
	s.seq++
	f := s.file(r.Path).clone()
	ok := validAnchor(r) || f.proves(r)
	lo, hi := r.Scope.bounds()
	if ok {
		f.set(slot{scope: r.Scope, hash: r.Served, seq: s.seq, lines: r.Lines, owed: f.owed(r)})
	} else {
		f.addDoubt(doubt{lo, hi, s.seq})
	}
	return s.with(r.Path, f), ok
}

func validAnchor(r Read) bool { return r.Mode.Anchor() && r.Served != "" }

// proves is the guard of the derived modes: the base version must be trusted for the whole scope
// (spec 4.3). An exact slot and the full slot are the special cases of "slots that cover it".
func (f *file) proves(r Read) bool {
	if r.Base == "" || r.Served == "" || r.Text != "" || len(f.owed(r)) > maxOwed {
		return false
	}
	switch {
	case r.Mode == ModeUnchanged && r.Scope.Whole():
		return r.Served == r.Base && f.coversWhole(r.Base)
	case r.Mode == ModeDiff && r.Scope.Whole():
		return f.coversWhole(r.Base)
	case r.Mode == ModeUnchangedRange && !r.Scope.Whole():
		return f.covers(r.Base, r.Scope.Start, r.Scope.End)
	}
	return false
}

// owed lists what is to be proven before a result may be a base.
func (f *file) owed(r Read) []Delivery {
	switch {
	case r.Text != "":
		return []Delivery{{Hash: r.Served, Scope: r.Scope, Text: r.Text}}
	case r.Mode.Anchor():
		return nil
	}
	// The served version counts too: its lines were passed over as seen when the claim was made.
	return f.unproven(r.Base, r.Served)
}

// Invalidate applies an explicit refresh (spec 4.4). A full one forgets the path. A range one
// deletes the exact slot and doubts the lines, so that not even full trust answers for them
// until they are delivered again.
func (s State) Invalidate(path string, scope Scope) State {
	f := s.file(path)
	if f == nil {
		return s
	}
	if scope.Whole() {
		return State{paths: s.paths.Delete(path), seq: s.seq}
	}
	f = f.clone()
	f.ranges = slices.DeleteFunc(f.ranges, func(x slot) bool { return x.scope == scope })
	f.addDoubt(doubt{scope.Start, scope.End, s.seq})
	return s.with(path, f)
}

// maxScan is the most paths that DoubtWhere looks at one by one.
const maxScan = 4096

// DoubtWhere says that something unproven was shown about the paths that match, so what the model
// last saw of them is unknown (spec 4.5). Everything known of them so far stops being a base. Beyond
// maxScan paths all are doubted.
func (s State) DoubtWhere(match func(path string) bool) State {
	switch n := s.Len(); {
	case n == 0:
		return s
	case n > maxScan:
		return State{seq: s.seq}
	}
	for it := s.paths.Iterator(); !it.Done(); {
		if path, _, _ := it.Next(); match(path) {
			s.paths = s.paths.Delete(path)
		}
	}
	return s
}

// Len returns the number of paths with trust or doubt.
func (s State) Len() int {
	if s.paths == nil {
		return 0
	}
	return s.paths.Len()
}

func (s State) file(path string) *file {
	if s.paths == nil {
		return nil
	}
	f, _ := s.paths.Get(path)
	return f
}

func (s State) with(path string, f *file) State {
	if s.paths == nil {
		s.paths = immutable.NewMap[string, *file](nil)
	}
	s.paths = s.paths.Set(path, f)
	return s
}

func (f *file) clone() *file {
	if f == nil {
		return &file{}
	}
	return &file{full: f.full, ranges: slices.Clone(f.ranges), doubts: slices.Clone(f.doubts)}
}

// set puts x in its slot.
func (f *file) set(x slot) {
	if x.scope.Whole() {
		f.full = &x
	} else {
		f.ranges = slices.DeleteFunc(f.ranges, func(y slot) bool { return y.scope == x.scope })
		f.ranges = append(f.ranges, x)
	}
	if len(f.ranges) > maxRanges {
		old := f.ranges[0]
		f.ranges = slices.Delete(f.ranges, 0, 1)
		f.addDoubt(doubt{old.scope.Start, old.scope.End, old.seq})
	}
	// A doubt lasts as long as a slot that it is about: an answer of another version is none for it.
	f.doubts = slices.DeleteFunc(f.doubts, func(d doubt) bool {
		return !slices.ContainsFunc(f.slots(), func(y slot) bool {
			lo, hi := y.scope.bounds()
			return y.seq <= d.seq && lo <= d.hi && d.lo <= hi
		})
	})
}

// addDoubt keeps doubts in the order of their seq and bounded in number.
func (f *file) addDoubt(d doubt) {
	at := len(f.doubts)
	for at > 0 && f.doubts[at-1].seq > d.seq {
		at--
	}
	f.doubts = slices.Insert(f.doubts, at, d)
	if len(f.doubts) > maxDoubts {
		a, b := f.doubts[0], f.doubts[1]
		f.doubts[1] = doubt{min(a.lo, b.lo), max(a.hi, b.hi), b.seq}
		f.doubts = slices.Delete(f.doubts, 0, 1)
	}
}
