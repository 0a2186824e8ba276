package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"deja/trust"
)

// long returns a session of n turns of one read each, over several files.
func long(t testing.TB, n int) *Tree {
	t.Helper()
	tree, parent := New(), ""
	add := func(e Entry) {
		e.Parent = parent
		if err := tree.Add(e); err != nil {
			t.Fatal(err)
		}
		parent = e.ID
	}
	for i := range n {
		path := fmt.Sprintf("f%d.go", i%50)
		add(Entry{ID: fmt.Sprintf("a%d", i), Kind: Assistant, Calls: []Call{{ID: "c", Paths: []string{path}}}})
		add(Entry{ID: fmt.Sprintf("r%d", i), Kind: Result, IsRead: true, CallID: "c", Read: &trust.Read{
			Path: path, Mode: trust.ModeFull, Served: fmt.Sprintf("H%d", i), Lines: 10,
		}})
	}
	return tree
}

// spec 5.1: a leaf that was seen before costs nothing: no allocation, and the very state it had.
func TestOldLeafCostsNothing(t *testing.T) {
	tree := long(t, 500)
	before, err := tree.At("r10")
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Add(Entry{ID: "branch", Parent: "r10", Kind: User}); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.At("r499"); err != nil {
		t.Fatal(err)
	}
	after, err := tree.At("r10")
	if err != nil || after != before {
		t.Errorf("the state of r10 is another one after a walk through the tree: %v", err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = tree.At("r10"); _, _ = tree.At("r499") }); n != 0 {
		t.Errorf("going to old leaves allocates %v times", n)
	}
}

// spec 5.1: an entry that means nothing for replay shares the state of its parent.
func TestEntriesThatMeanNothingShareTheState(t *testing.T) {
	tree := long(t, 3)
	for _, e := range []Entry{
		{ID: "other", Parent: "r2"},
		{ID: "edit of nothing", Parent: "r2", Kind: Edit, Target: "nowhere"},
		{ID: "edit of another", Parent: "r1", Kind: Edit, Target: "other", Omit: true},
	} {
		if err := tree.Add(e); err != nil {
			t.Fatal(err)
		}
		if tree.nodes[e.ID].state != tree.nodes[e.Parent].state {
			t.Errorf("%s has a state of its own", e.ID)
		}
	}
}

// spec 5.1: a new leaf costs its new entries. The allocations of one more entry do not grow with
// the session.
func TestNewEntryCostsTheSameInALongSession(t *testing.T) {
	cost := func(turns int) float64 {
		tree, i := long(t, turns), 0
		leaf := fmt.Sprintf("r%d", turns-1)
		return testing.AllocsPerRun(50, func() {
			i++
			err := tree.Add(Entry{ID: fmt.Sprint("n", i), Parent: leaf, Kind: Result, IsRead: true, CallID: "c", Read: &trust.Read{
				Path: "f1.go", Mode: trust.ModeFull, Served: "H", Lines: 10,
			}})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	if short, long := cost(60), cost(3000); long > short+8 {
		t.Errorf("an entry costs %v allocations after 60 turns and %v after 3000", short, long)
	}
}

// spec 5.6: the tree takes 1 048 576 entries and then refuses. The entries are nil and their ids
// are pieces of one string: the limit is about their number.
func TestAddRefusesWhenFull(t *testing.T) {
	if MaxEntries != 1_048_576 {
		t.Fatalf("MaxEntries is %d", MaxEntries)
	}
	const width = 7
	var ids strings.Builder
	for i := range MaxEntries - 1 {
		fmt.Fprintf(&ids, "%07d", i)
	}
	all := ids.String()
	tree := New()
	tree.nodes = make(map[string]*node, MaxEntries)
	for i := range MaxEntries - 1 {
		tree.nodes[all[i*width:(i+1)*width]] = nil
	}
	if err := tree.Add(Entry{ID: "last", Kind: User}); err != nil {
		t.Fatalf("the last entry that fits: %v", err)
	}
	if err := tree.Add(Entry{ID: "more", Kind: User}); !errors.Is(err, ErrFull) {
		t.Errorf("one more: %v, want ErrFull", err)
	}
	if err := tree.Add(Entry{ID: "last", Kind: User}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("a known one: %v, want ErrDuplicate", err)
	}
	if tree.Len() != MaxEntries || tree.Has("more") {
		t.Errorf("%d entries", tree.Len())
	}
	if _, err := tree.At("last"); err != nil {
		t.Errorf("what was there is there: %v", err)
	}
}
