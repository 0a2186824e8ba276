package trust

import (
	"fmt"
	"slices"
)

// model is the dumb version of State for one path: a table with a row for each line, filled in by
// reading spec 4 aloud. It keeps everything, knows no intervals and no limits.
//
// Row beyond stands for all lines past those that the tests use: only a read of the whole file
// reaches it, since only that shows where the file ends.
type model struct {
	clock int
	rows  [beyond + 1]row
}

const (
	lastLine = 8
	beyond   = lastLine + 1
)

type row struct {
	views  []view // at most one for each scope: slots are independent, the new takes the place of the old
	doubts []int  // when
}

type view struct {
	at    int
	scope Scope
	hash  string
	lines int
}

func (m *model) each(s Scope) []*row {
	lo, hi := 1, beyond
	if !s.Whole() {
		lo, hi = s.Start, s.End
	}
	var list []*row
	for i := lo; i <= hi; i++ {
		list = append(list, &m.rows[i])
	}
	return list
}

// applies is the table of spec 4.3.
func (m *model) applies(r Read) bool {
	switch r.Mode {
	case ModeFull, ModeFallback:
		return r.Served != ""
	case ModeUnchanged:
		return r.Scope.Whole() && r.Base != "" && r.Base == r.Served && m.trustedWhole(r.Base)
	case ModeDiff:
		return r.Scope.Whole() && r.Served != "" && r.Base != "" && m.trustedWhole(r.Base)
	case ModeUnchangedRange:
		return !r.Scope.Whole() && r.Served != "" && r.Base != "" && m.trusted(r.Base, r.Scope.Start, r.Scope.End)
	}
	return false
}

// read applies a result; ok is what applies said.
func (m *model) read(r Read, ok bool) {
	m.clock++
	if !ok {
		m.doubt(r.Scope)
		return
	}
	m.forget(r.Scope)
	for _, x := range m.each(r.Scope) {
		x.views = append(x.views, view{m.clock, r.Scope, r.Served, r.Lines})
	}
}

// forget empties the slot of a scope.
func (m *model) forget(s Scope) {
	for i := range m.rows {
		m.rows[i].views = slices.DeleteFunc(slices.Clone(m.rows[i].views), func(v view) bool { return v.scope == s })
	}
}

func (m *model) doubt(s Scope) {
	for _, x := range m.each(s) {
		x.doubts = append(slices.Clone(x.doubts), m.clock)
	}
}

// invalidate is spec 4.4.
func (m *model) invalidate(s Scope) {
	m.clock++
	if s.Whole() {
		*m = model{clock: m.clock}
		return
	}
	m.forget(s)
	m.doubt(s)
}

// trusted is the definition under the table of spec 4.3: slots of that version cover the lines,
// and none of the lines was doubted since.
func (m *model) trusted(hash string, lo, hi int) bool {
	for i := lo; i <= hi; i++ {
		since := -1
		for _, v := range m.rows[i].views {
			if v.hash == hash {
				since = max(since, v.at)
			}
		}
		if since < 0 || slices.ContainsFunc(m.rows[i].doubts, func(at int) bool { return at >= since }) {
			return false
		}
	}
	return true
}

func (m *model) trustedWhole(hash string) bool {
	n := m.linesOf(hash)
	return n > 0 && m.trusted(hash, 1, n)
}

func (m *model) linesOf(hash string) int {
	n := 0
	for _, x := range m.rows {
		for _, v := range x.views {
			if v.hash == hash {
				n = max(n, v.lines)
			}
		}
	}
	return n
}

// freshest returns the last view of a line; doubtful is true if a doubt came after it. Where nothing
// is known there is nothing to doubt: the line is unseen.
func (x row) freshest() (hash string, doubtful bool) {
	if len(x.views) == 0 {
		return "", false
	}
	at := -1
	for _, v := range x.views {
		if v.at > at {
			at, hash = v.at, v.hash
		}
	}
	for _, d := range x.doubts {
		doubtful = doubtful || d >= at
	}
	return hash, doubtful
}

// base is spec 4.7. The lines are lo..hi, or the whole file if hi is 0.
func (m *model) base(lo, hi int, current string) (string, bool) {
	whole := hi == 0
	if whole {
		lo, hi = 1, beyond
	}
	others, seen, unseen := map[string]bool{}, false, []int{}
	for i := lo; i <= hi; i++ {
		hash, doubtful := m.rows[i].freshest()
		switch {
		case doubtful:
			return "", false
		case hash == "":
			unseen = append(unseen, i)
			continue
		case hash != current:
			others[hash] = true
		}
		seen = true
	}
	hash := current
	for h := range others {
		hash = h
	}
	if !seen || len(others) > 1 {
		return "", false
	}
	if !whole {
		return hash, len(unseen) == 0 && m.trusted(hash, lo, hi)
	}
	return hash, m.trustedWhole(hash) && (len(unseen) == 0 || unseen[0] > m.linesOf(hash))
}

// doubtPastEnd says that some line past the last of a version is doubtful. Whether the version is
// the whole of the file is in doubt with it, so State may refuse where the table would not.
func (m *model) doubtPastEnd(hash string) bool {
	for i := m.linesOf(hash) + 1; i <= beyond; i++ {
		if len(m.rows[i].doubts) > 0 {
			return true
		}
	}
	return false
}

// event is one event of a test, for one path.
type event struct {
	read       *Read
	invalidate *Scope
	unproven   bool
}

func (e event) String() string {
	switch {
	case e.unproven:
		return "doubt"
	case e.invalidate != nil:
		return "invalidate " + e.invalidate.String()
	}
	return fmt.Sprintf("read %s %s served=%s base=%s lines=%d", e.read.Scope, e.read.Mode, e.read.Served, e.read.Base, e.read.Lines)
}

// pair runs State and model side by side.
type pair struct {
	state State
	model model
}

const aPath = "a.go"

// step applies e to both; the error says how they disagree.
func (p pair) step(e event) (pair, error) {
	switch {
	case e.unproven:
		p.state = p.state.DoubtWhere(only(aPath))
		p.model = model{clock: p.model.clock}
		return p, nil
	case e.invalidate != nil:
		p.state = p.state.Invalidate(aPath, *e.invalidate)
		p.model.invalidate(*e.invalidate)
		return p, nil
	}
	r := *e.read
	r.Path = aPath
	next, got := p.state.Read(r)
	want := p.model.applies(r)
	excused := want && r.Scope.Whole() && p.model.doubtPastEnd(r.Base)
	if got != want && !excused {
		return p, fmt.Errorf("%s applies: got %v, want %v", e, got, want)
	}
	p.state = next
	p.model.read(r, got)
	return p, nil
}

// ask puts every question about the lines 1..n to both.
func (p pair) ask(n int, currents []string) error {
	for _, current := range currents {
		for lo := 1; lo <= n; lo++ {
			for hi := lo; hi <= n; hi++ {
				got, ok := p.state.Range(aPath, lo, hi, current)
				want, wantOK := p.model.base(lo, hi, current)
				if err := p.agree(fmt.Sprintf("base of %d-%d at %s", lo, hi, current), got, ok, want, wantOK); err != nil {
					return err
				}
			}
		}
		got, ok := p.state.Entire(aPath, current)
		want, wantOK := p.model.base(0, 0, current)
		if wantOK && !ok && p.model.doubtPastEnd(want) {
			continue
		}
		if err := p.agree("base of all at "+current, got, ok, want, wantOK); err != nil {
			return err
		}
	}
	return nil
}

func (p pair) agree(what string, got Base, ok bool, want string, wantOK bool) error {
	if ok != wantOK || ok && (got.Hash != want || got.Lines != p.model.linesOf(want)) {
		return fmt.Errorf("%s: got %v %v, want %q %v", what, got, ok, want, wantOK)
	}
	return nil
}
