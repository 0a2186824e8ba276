package session

import (
	"slices"

	"deja/trust"
)

// step applies the entry of n to the state of its parent, with the given edits in force.
func (s State) step(n *node, edits *edit) State {
	e := n.entry
	switch e.Kind {
	case User:
		if omit, found := edits.of(n); !found || !omit {
			s.Repeat = Repeat{}
		}
	case Compaction:
		return State{} // spec 5.2: the barrier, wherever the kept messages begin
	case Invalidation:
		s.Trust = s.Trust.Invalidate(e.Path, e.Scope)
	case Result:
		if how, found := edits.of(n); found {
			return s.edited(n, how)
		}
		return s.result(n)
	}
	return s
}

// edited applies a tool result that is not in the context as it was stored. An omitted one never
// happened for the model. A replaced one shows something unknown in its place (spec 5.4).
func (s State) edited(n *node, omit bool) State {
	switch {
	case omit:
		return s
	case n.entry.Failed || !n.entry.IsRead:
		return s.result(n)
	}
	return s.unproven(n)
}

func (s State) result(n *node) State {
	e := n.entry
	switch {
	case e.Failed || !e.IsRead:
		s.Repeat = Repeat{} // an error delivers nothing (spec 3.5), but the model saw something new
		return s
	case e.Read == nil:
		return s.unproven(n)
	}
	next, ok := s.Trust.Read(*e.Read)
	s.Trust = next
	s.Stats.count(e, ok)
	if !e.Read.Mode.Claim() {
		s.Repeat = Repeat{}
		return s
	}
	if s.Repeat.Path != e.Read.Path || s.Repeat.Scope != e.Read.Scope {
		s.Repeat = Repeat{Path: e.Read.Path, Scope: e.Read.Scope}
	}
	s.Repeat.N++
	return s
}

// unproven applies a read result that showed something which nothing vouches for: whatever was
// known of the paths it may have been about is doubtful now (spec 4.5). If the call cannot be
// found, that is every path.
func (s State) unproven(n *node) State {
	s.Repeat = Repeat{}
	s.Stats.Unproven++
	paths, found := n.callPaths()
	if !found {
		s.Trust = trust.State{}
		return s
	}
	for _, p := range slices.Concat(paths, n.entry.Paths) {
		s.Trust = s.Trust.Doubt(p)
	}
	return s
}

// callPaths returns the keys that the path of the answered call may resolve to.
func (n *node) callPaths() (paths []string, found bool) {
	caller := n.caller()
	if caller == nil {
		return nil, false
	}
	for _, c := range caller.entry.Calls {
		if c.ID == n.entry.CallID {
			paths, found = append(paths, c.Paths...), true
		}
	}
	return paths, found
}

// caller returns the assistant message whose call n answers: the nearest one that calls read, as
// results follow their calls before anything else is said. Nil if that is not so.
func (n *node) caller() *node {
	for p := n.parent.from; p != nil; p = p.parent.from {
		switch p.entry.Kind {
		case Assistant:
			if slices.ContainsFunc(p.entry.Calls, func(c Call) bool { return c.ID == n.entry.CallID }) {
				return p
			}
			return nil
		case User, Compaction:
			return nil
		}
	}
	return nil
}

// of returns the latest edit that takes n out of the context or replaces it. Editing the message
// that holds the call counts too: a host drops a result whose call is gone.
func (e *edit) of(n *node) (omit, found bool) {
	if e == nil {
		return false, false
	}
	caller := n.caller()
	for ; e != nil; e = e.next {
		if e.target == n || (caller != nil && e.target == caller) {
			return e.omit, true
		}
	}
	return false, false
}

// replay makes the state of n afresh, from the last compaction on its branch, with all the edits
// on the branch in force.
func (n *node) replay() *State {
	var window []*node
	for p := n.parent.from; p != nil; p = p.parent.from {
		if p.entry.Kind == Compaction {
			break
		}
		window = append(window, p)
	}
	var s State
	for _, p := range slices.Backward(window) {
		s = s.step(p, n.edits)
	}
	return &s
}

func (c *Stats) count(e *Entry, trusted bool) {
	if !trusted {
		c.Ignored++
		return
	}
	switch e.Read.Mode {
	case trust.ModeFull:
		c.Full++
	case trust.ModeFallback:
		c.Fallback++
	case trust.ModeUnchanged:
		c.Unchanged++
	case trust.ModeUnchangedRange:
		c.UnchangedRange++
	case trust.ModeDiff:
		c.Diff++
	}
	c.Saved += e.Saved
}
