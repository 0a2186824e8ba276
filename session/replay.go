package session

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"deja/trust"
)

// step applies the entry of n to the state of its parent, with the given edits in force.
func (s State) step(n *node, edited func(*node) (omit, found bool)) State {
	e := n.entry
	switch e.Kind {
	case User:
		if omit, found := edited(n); !found || !omit {
			s.Repeat = Repeat{}
		}
	case Compaction:
		return State{} // spec 5.2: the barrier, wherever the kept messages begin
	case Invalidation:
		s.Trust = s.Trust.Invalidate(e.Path, e.Scope)
	case Result:
		if how, found := edited(n); found {
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
	names := map[string]bool{}
	for _, p := range slices.Concat(paths, n.entry.Paths) {
		names[lastName(p)] = true
	}
	s.Trust = s.Trust.DoubtWhere(func(path string) bool { return names[lastName(path)] })
	return s
}

var plainName = strings.NewReplacer("\u2019", "'", "\u202f", " ")

// lastName is the last element of a path, the same for all spellings that may name one file: which of
// them was opened depends on the folder, the home and the disk of that time (spec 4.5).
func lastName(p string) string {
	p = plainName.Replace(norm.NFC.String(path.Base(p)))
	return strings.ToLower(strings.ToUpper(p))
}

// callPaths returns the keys that the path of the answered call may resolve to.
func (n *node) callPaths() (paths []string, found bool) {
	if n.caller == nil {
		return nil, false
	}
	for _, c := range n.caller.entry.Calls {
		if c.ID == n.entry.CallID {
			paths, found = append(paths, c.Paths...), true
		}
	}
	return paths, found
}

// caller returns the assistant message whose call n answers: the nearest one that calls read, as
// results follow their calls before anything else is said. Nil if that is not so.
func (n *node) findCaller() *node {
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

// of says whether n is left out of the context or shows something else there. Its own latest edit
// decides. An edit of the message that holds the call leaves the result in the context of pi 0.87
// as it was, but not of every provider: what the model sees of it is unknown.
func (e *edit) of(n *node) (omit, found bool) {
	for ; e != nil; e = e.next {
		switch e.target {
		case n:
			return e.omit, true
		case n.caller:
			found = true
		}
	}
	return false, found
}

// index is of for many entries: it looks at each edit once.
func (e *edit) index() func(*node) (omit, found bool) {
	latest := map[*node]bool{}
	for ; e != nil; e = e.next {
		if _, later := latest[e.target]; !later {
			latest[e.target] = e.omit
		}
	}
	return func(n *node) (omit, found bool) {
		if omit, found = latest[n]; found {
			return omit, true
		}
		_, found = latest[n.caller]
		return false, found
	}
}

// settle makes the state of n if there is none yet: afresh from the last compaction, or from the last
// state with the same edits in force. Edits come in rows, and nobody asks in between.
func (n *node) settle() *State {
	if n.state != nil {
		return n.state
	}
	var window []*node
	var s State
	for p := n.from; p != nil; p = p.parent.from {
		if p.entry.Kind == Compaction {
			break
		}
		if p.state != nil && p.edits == n.edits {
			s = *p.state
			break
		}
		window = append(window, p)
	}
	edited := n.edits.index()
	for _, p := range slices.Backward(window) {
		s = s.step(p, edited)
	}
	n.state = &s
	return n.state
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
