package session

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deja/trust"
)

// naive is replay by the letter of spec 5: it keeps the entries as they came, walks the branch
// from the root each time, and never reuses anything.
type naive struct {
	order   map[string]int
	entries map[string]Entry
}

// branch is spec 5.2.
func (m *naive) branch(leaf string) []Entry {
	var list []Entry
	for id := leaf; id != ""; {
		e, found := m.entries[id]
		if !found {
			break
		}
		list = append(list, e)
		parent := e.Parent
		// A parent that came later, or the entry itself, was not there when the entry came.
		if p, found := m.order[parent]; found && p >= m.order[id] {
			break
		}
		id = parent
	}
	slices.Reverse(list)
	return list
}

// caller returns the place of the message that holds the call of the result at i, or -1.
func caller(branch []Entry, i int) int {
	for j := i - 1; j >= 0; j-- {
		switch branch[j].Kind {
		case Assistant:
			for _, c := range branch[j].Calls {
				if c.ID == branch[i].CallID {
					return j
				}
			}
			return -1
		case User, Compaction:
			return -1
		}
	}
	return -1
}

// edited says what the latest edit of the entry at i, or of its caller, does: "", "omit" or "replace".
func edited(branch []Entry, i int) string {
	targets := []string{branch[i].ID}
	if branch[i].Kind == Result {
		if j := caller(branch, i); j >= 0 {
			targets = append(targets, branch[j].ID)
		}
	}
	for j := len(branch) - 1; j >= 0; j-- {
		e := branch[j]
		if e.Kind != Edit || !slices.Contains(targets, e.Target) {
			continue
		}
		// It edits an earlier message; a later one with that id is none that it can have meant.
		if at := slices.IndexFunc(branch, func(x Entry) bool { return x.ID == e.Target }); at > j {
			continue
		}
		if e.Omit {
			return "omit"
		}
		return "replace"
	}
	return ""
}

// replay is spec 4 to 5 and 6.8 over the window after the last compaction.
func (m *naive) replay(leaf string) State {
	branch := m.branch(leaf)
	var s State
	for i, e := range branch {
		if e.Kind == Compaction {
			s = State{} // spec 4.6
			continue
		}
		how := edited(branch, i)
		if how == "omit" {
			continue // spec 5.4
		}
		switch {
		case e.Kind == User:
			s.Repeat = Repeat{}
		case e.Kind == Invalidation:
			s.Trust = s.Trust.Invalidate(e.Path, e.Scope)
		case e.Kind != Result:
		case !e.IsRead || e.Failed: // spec 3.5, spec 5.3
			s.Repeat = Repeat{}
		case how == "replace" || e.Read == nil: // spec 4.5
			s.Repeat = Repeat{}
			s.Stats.Unproven++
			j := caller(branch, i)
			if j < 0 {
				s.Trust = trust.State{}
				break
			}
			for _, c := range branch[j].Calls {
				if c.ID == e.CallID {
					for _, p := range c.Paths {
						s.Trust = s.Trust.DoubtWhere(func(path string) bool { return path == p })
					}
				}
			}
			for _, p := range e.Paths {
				s.Trust = s.Trust.DoubtWhere(func(path string) bool { return path == p })
			}
		default:
			s = naiveResult(s, e)
		}
	}
	return s
}

func naiveResult(s State, e Entry) State {
	next, ok := s.Trust.Read(*e.Read)
	s.Trust = next
	if ok {
		counters := map[trust.Mode]*int{
			trust.ModeFull: &s.Stats.Full, trust.ModeFallback: &s.Stats.Fallback, trust.ModeUnchanged: &s.Stats.Unchanged,
			trust.ModeUnchangedRange: &s.Stats.UnchangedRange, trust.ModeDiff: &s.Stats.Diff,
		}
		*counters[e.Read.Mode]++
		s.Stats.Saved += e.Saved
	} else {
		s.Stats.Ignored++
	}
	n := 0
	if e.Read.Mode.Claim() {
		n = 1
		if s.Repeat.N > 0 && s.Repeat.Path == e.Read.Path && s.Repeat.Scope == e.Read.Scope {
			n += s.Repeat.N
		}
	}
	s.Repeat = Repeat{}
	if n > 0 {
		s.Repeat = Repeat{Path: e.Read.Path, Scope: e.Read.Scope, N: n}
	}
	return s
}

// answers is all that can be asked of a state.
func answers(s State) []string {
	list := []string{fmt.Sprintf("%+v %+v", s.Repeat, s.Stats)}
	for _, k := range s.Trust.All() {
		list = append(list, fmt.Sprintf("slot %s %s %s", k.Path, k.Scope, k.Hash))
	}
	for _, path := range paths {
		for _, h := range versions {
			base, ok := s.Trust.Entire(path, h)
			list = append(list, fmt.Sprintf("%s at %s: %v %v", path, h, base, ok))
			for lo := 1; lo <= fileLines; lo++ {
				for hi := lo; hi <= fileLines; hi++ {
					base, ok := s.Trust.Range(path, lo, hi, h)
					list = append(list, fmt.Sprintf("%s %d-%d at %s: %v %v", path, lo, hi, h, base, ok))
				}
			}
		}
	}
	return list
}

const fileLines = 3

var (
	paths    = []string{"a", "b"}
	versions = []string{"H0", "H1"}
	calls    = []string{"c0", "c1", "c2"}
)

// anyEntry draws an entry with id n below, mostly, the latest ones.
func anyEntry(t *rapid.T, n int) Entry {
	id := func(i int) string { return fmt.Sprint("e", i) }
	e := Entry{ID: id(n), Parent: id(n - 1)}
	switch rapid.IntRange(0, 9).Draw(t, "parent") {
	case 0:
		e.Parent = id(rapid.IntRange(0, n+2).Draw(t, "branch")) // also unknown, itself, and later ones
	case 1:
		e.ID = id(rapid.IntRange(1, n).Draw(t, "again"))
	}
	path := rapid.SampledFrom(paths)
	switch rapid.IntRange(0, 15).Draw(t, "kind") {
	case 0:
		e.Kind = User
	case 1:
		e.Kind = Compaction
	case 2:
		e.Kind, e.Path, e.Scope = Invalidation, path.Draw(t, "path"), anyScope(t)
	case 3, 4:
		e.Kind, e.Omit = Edit, rapid.Bool().Draw(t, "omit")
		e.Target = id(rapid.IntRange(max(0, n-6), n+3).Draw(t, "target"))
	case 5, 6, 7:
		e.Kind = Assistant
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			e.Calls = append(e.Calls, Call{ID: rapid.SampledFrom(calls).Draw(t, "call"), Paths: []string{path.Draw(t, "path")}})
		}
	case 8:
		// another kind
	default:
		e.Kind, e.CallID = Result, rapid.SampledFrom(calls).Draw(t, "call")
		e.IsRead = rapid.IntRange(0, 9).Draw(t, "tool") > 0
		e.Failed = rapid.IntRange(0, 9).Draw(t, "error") == 0
		if rapid.IntRange(0, 5).Draw(t, "proof") == 0 {
			e.Paths = rapid.SliceOfN(path, 0, 1).Draw(t, "named")
			break
		}
		modes := []trust.Mode{trust.ModeFull, trust.ModeFallback, trust.ModeUnchanged, trust.ModeUnchangedRange, trust.ModeDiff}
		e.Read = &trust.Read{
			Path: path.Draw(t, "path"), Mode: rapid.SampledFrom(modes).Draw(t, "mode"), Scope: anyScope(t),
			Served: rapid.SampledFrom(versions).Draw(t, "served"), Base: rapid.SampledFrom(versions).Draw(t, "base"), Lines: fileLines,
		}
		e.Saved = int64(rapid.IntRange(0, 9).Draw(t, "saved"))
	}
	return e
}

func anyScope(t *rapid.T) trust.Scope {
	if rapid.Bool().Draw(t, "whole") {
		return trust.Full
	}
	lo := rapid.IntRange(1, fileLines).Draw(t, "lo")
	return trust.Lines(lo, rapid.IntRange(lo, fileLines).Draw(t, "hi"))
}

// spec 1.3, spec 5.1, spec 5.2, spec 5.3, spec 5.4, spec 5.6, spec 4.6: in any tree, the state that
// was made step by step is the one that a replay from the root gives, at every leaf and at any
// later time.
func TestIncrementalReplayIsFullReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, m := New(), naive{order: map[string]int{}, entries: map[string]Entry{}}
		for n := range rapid.IntRange(1, 40).Draw(t, "entries") {
			n++ // e0 never exists
			e := anyEntry(t, n)
			if target, found := m.entries[e.Target]; e.Kind == Edit && found && (target.Kind == Invalidation || target.Kind == Compaction) {
				e.Target = "" // edits are of messages
			}
			_, known := m.entries[e.ID]
			if err := tree.Add(e); known != (err != nil) {
				t.Fatalf("Add(%+v) = %v", e, err)
			}
			if !known {
				m.entries[e.ID], m.order[e.ID] = e, n
			}
		}
		for id := range m.entries {
			got, err := tree.At(id)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(answers(m.replay(id)), answers(got)); diff != "" {
				for _, e := range m.branch(id) {
					t.Logf("%+v read %+v", e, e.Read)
				}
				t.Fatalf("at %s (-full replay +incremental):\n%s", id, diff)
			}
		}
	})
}
