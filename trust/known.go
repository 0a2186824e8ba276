package trust

import (
	"cmp"
	"slices"
)

// Known is one slot of a State, for reports.
type Known struct {
	Path  string
	Scope Scope
	Hash  string
	Seq   int64 // how recent, larger is fresher
}

// All lists the slots, by path and then by scope. Doubted lines are not taken out.
func (s State) All() []Known {
	if s.paths == nil {
		return nil
	}
	var list []Known
	for it := s.paths.Iterator(); !it.Done(); {
		path, f, _ := it.Next()
		for _, x := range f.slots() {
			list = append(list, Known{Path: path, Scope: x.scope, Hash: x.hash, Seq: x.seq})
		}
	}
	slices.SortFunc(list, func(a, b Known) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Scope.Start, b.Scope.Start), cmp.Compare(a.Scope.End, b.Scope.End))
	})
	return list
}

// Versions returns the versions that the state refers to, those that a proof needs among them: the
// objects that must not be pruned.
func (s State) Versions() map[string]bool {
	used := map[string]bool{}
	if s.paths == nil {
		return used
	}
	for it := s.paths.Iterator(); !it.Done(); {
		_, f, _ := it.Next()
		for _, x := range f.slots() {
			used[x.hash] = true
			for _, d := range x.owed {
				used[d.Hash] = true
			}
		}
	}
	return used
}
