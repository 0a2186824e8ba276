// Package session holds the tree of a session's entries and what the replay of any branch of it
// proves (spec 5).
//
// It knows how entries follow each other, which of them change trust, and that an entry never
// changes. It does not know how a host writes its entries down, nor files, clocks or storage.
//
// Replay is incremental: each entry keeps the immutable state of the branch that ends in it,
// made from its parent's in one step. A new leaf costs its new entries; going back to an old
// leaf costs nothing.
//
// Memory is about 250 bytes an entry that changes nothing, and about 2 KB one that does
// (docs/performance.md has the measured figures); Tree.Add refuses entries beyond MaxEntries.
package session

import (
	"errors"
	"fmt"

	"deja/trust"
)

// MaxEntries is the most entries a Tree takes. Beyond it Add returns ErrFull and the host's user
// gets plain reads.
const MaxEntries = 1 << 20

// Errors of Add and At.
var (
	ErrDuplicate = errors.New("entry id is already in the session")
	ErrNoID      = errors.New("entry has no id")
	ErrFull      = fmt.Errorf("session has %d entries, the most that are replayed", MaxEntries)
	ErrUnknown   = errors.New("entry is not in the session")
)

// Kind says what an entry means for replay.
type Kind uint8

// The kinds of entries. Everything that neither reaches the model as a tool result or user
// message nor changes trust is Other.
const (
	Other        Kind = iota
	User              // a message of the user
	Assistant         // a message of the model, with its calls of the read tool
	Result            // a tool result
	Compaction        // everything before it counts as gone (spec 5.2)
	Invalidation      // an explicit refresh (spec 4.4)
	Edit              // an earlier entry is omitted or replaced in the context (spec 5.4)
)

// Entry is one entry of a session as far as replay is concerned.
type Entry struct {
	ID     string
	Parent string // "" for a root
	Kind   Kind

	Calls []Call // Assistant: calls of the read tool

	CallID string      // Result: the call it answers
	Failed bool        // Result: an error; delivers nothing
	IsRead bool        // Result: of the read tool
	Read   *trust.Read // Result: what it provably delivered or claimed; nil if nothing can be proven
	Saved  int64       // Result: bytes that a claim saved against the plain read
	Paths  []string    // Result: paths named by metadata that proves nothing

	Scope trust.Scope // Invalidation
	Path  string      // Invalidation

	Target string // Edit: the entry edited
	Omit   bool   // Edit: it is left out; otherwise its content is replaced
}

// Call is a call of the read tool and the keys its path may resolve to.
type Call struct {
	ID    string
	Paths []string
}

// State is what the branch that ends in some entry proves. States are immutable.
type State struct {
	Trust  trust.State
	Repeat Repeat
	Stats  Stats
}

// Repeat counts the claims for the same lines at the end of the branch, with no other tool result
// and no user message in between (spec 6.8).
type Repeat struct {
	Path  string
	Scope trust.Scope
	N     int
}

// Stats counts what the replay window holds.
type Stats struct {
	Full, Fallback, Unchanged, UnchangedRange, Diff int
	Unproven                                        int // read results that delivered something that cannot be vouched for
	Ignored                                         int // claims whose base was not proven
	Saved                                           int64
}

type node struct {
	parent *node
	entry  *Entry // nil when it means nothing for replay
	state  *State // nil until somebody asks, if an edit came before: see settle
	edits  *edit  // the edits on the branch, latest first
	from   *node  // nearest ancestor, or itself, whose entry is not nil
	caller *node  // of a result: the message whose call it answers, nil if that is not known
}

type edit struct {
	target *node
	omit   bool
	next   *edit
}

// Tree is a session. It is not safe for concurrent use; the States it returns are.
type Tree struct {
	nodes map[string]*node
	empty *node
}

var user = &Entry{Kind: User}

// New returns an empty session.
func New() *Tree {
	return &Tree{nodes: map[string]*node{}, empty: &node{state: &State{}}}
}

// Len returns the number of entries.
func (t *Tree) Len() int { return len(t.nodes) }

// Has reports whether an entry is in the session.
func (t *Tree) Has(id string) bool { return t.nodes[id] != nil }

// At returns the state of the branch that ends in leaf. The empty leaf is the place before the
// first entry. ErrUnknown means that the host has to send the branch first.
func (t *Tree) At(leaf string) (State, error) {
	if leaf == "" {
		return State{}, nil
	}
	n := t.nodes[leaf]
	if n == nil {
		return State{}, fmt.Errorf("leaf %q: %w", leaf, ErrUnknown)
	}
	return *n.settle(), nil
}

// Add appends an entry. Entries never change, so a known id is ErrDuplicate and changes nothing.
// A parent that is not in the session makes the entry a root, as it does for the host: what
// cannot be reached is not in the branch. Cycles cannot arise, parents come first.
func (t *Tree) Add(e Entry) error {
	switch {
	case e.ID == "":
		return ErrNoID
	case t.nodes[e.ID] != nil:
		return fmt.Errorf("entry %q: %w", e.ID, ErrDuplicate)
	case len(t.nodes) >= MaxEntries:
		return ErrFull
	}
	parent := t.nodes[e.Parent]
	if parent == nil {
		parent = t.empty
	}
	n := &node{parent: parent, state: parent.state, edits: parent.edits, from: parent.from}
	switch e.Kind {
	case Other:
	case User:
		n.entry, n.from = user, n // all of them mean the same
		t.apply(n)
	default:
		kept := e
		n.entry, n.from = &kept, n
		if e.Kind == Result {
			n.caller = n.findCaller()
		}
		t.apply(n)
	}
	t.nodes[e.ID] = n
	return nil
}

// apply makes the state of n from its parent's.
func (t *Tree) apply(n *node) {
	switch k := n.entry.Kind; {
	case k == Compaction:
		n.state = t.empty.state
	case k == Assistant, k == User && n.parent.state != nil && n.parent.state.Repeat == Repeat{}:
		return // the parent's state
	case k != Edit:
		if n.parent.state != nil {
			next := n.parent.state.step(n, n.edits.of)
			n.state = &next
		}
		return
	}
	target := t.nodes[n.entry.Target]
	if target == nil || target.entry == nil {
		return
	}
	n.edits = &edit{target: target, omit: n.entry.Omit, next: n.parent.edits}
	if k := target.entry.Kind; k == Result || k == Assistant || k == User {
		n.state = nil
	}
}
