package trust

import "testing"

// spec 4.3: trusted means that none of the lines was doubted since they were delivered. A later
// delivery of another version answers the doubt for that version, not for the older one.
func TestSpec43OlderVersionStaysDoubtedAfterAnAnchorOfAnother(t *testing.T) {
	var s State
	s, _ = s.Read(Read{Path: aPath, Scope: Full, Mode: ModeFull, Served: "H1", Lines: 3})
	s = s.Invalidate(aPath, Lines(1, 2))
	s, _ = s.Read(Read{Path: aPath, Scope: Lines(1, 2), Mode: ModeFull, Served: "H2", Lines: 3})
	if base, ok := s.Entire(aPath, "H2"); ok {
		t.Errorf("base %v, but lines 1-2 of it were doubted after they were delivered", base)
	}
	if _, ok := s.Read(Read{Path: aPath, Scope: Full, Mode: ModeDiff, Base: "H1", Served: "H3", Lines: 3}); ok {
		t.Error("a diff from the doubted version was applied")
	}
}

// spec 3.6, spec 1.1: a stub of the existing extension says nothing about the text of the lines,
// so a delivery that still has to be proven is still to be proven after it.
func TestSpec36DerivedResultDoesNotProveItsBase(t *testing.T) {
	anchor := Read{Path: aPath, Scope: Lines(1, 2), Mode: ModeFull, Served: "H1", Lines: 3, Text: "D1"}
	rest := Read{Path: aPath, Scope: Lines(3, 3), Mode: ModeFull, Served: "H1", Lines: 3}
	for name, claim := range map[string]Read{
		"unchanged_range": {Path: aPath, Scope: Lines(1, 2), Mode: ModeUnchangedRange, Base: "H1", Served: "H1", Lines: 3},
		"other version":   {Path: aPath, Scope: Lines(1, 2), Mode: ModeUnchangedRange, Base: "H1", Served: "H2", Lines: 3},
		"unchanged":       {Path: aPath, Scope: Full, Mode: ModeUnchanged, Base: "H1", Served: "H1", Lines: 3},
		"diff":            {Path: aPath, Scope: Full, Mode: ModeDiff, Base: "H1", Served: "H2", Lines: 3},
	} {
		t.Run(name, func(t *testing.T) {
			var s State
			s, _ = s.Read(anchor)
			s, _ = s.Read(rest)
			s, _ = s.Read(claim)
			if base, ok := s.Range(aPath, 1, 2, claim.Served); ok && len(base.Unproven) == 0 {
				t.Errorf("lines 1-2: base %v counts as proven", base)
			}
		})
	}
}

// spec 3.6, spec 4.7: a view of the current version counts for a base of an older one, so it has to
// be proven as well.
func TestSpec36ViewOfTheCurrentVersionHasToBeProvenToo(t *testing.T) {
	var s State
	s, _ = s.Read(Read{Path: aPath, Scope: Full, Mode: ModeFull, Served: "H1", Lines: 3})
	s, _ = s.Read(Read{Path: aPath, Scope: Lines(2, 2), Mode: ModeFull, Served: "H2", Lines: 3, Text: "D"})
	if base, ok := s.Range(aPath, 1, 2, "H2"); ok && len(base.Unproven) == 0 {
		t.Errorf("lines 1-2: base %v, though line 2 was last shown by a text that is not proven", base)
	}
	if base, ok := s.Entire(aPath, "H2"); ok && len(base.Unproven) == 0 {
		t.Errorf("all lines: base %v, though line 2 was last shown by a text that is not proven", base)
	}
}

// spec 3.6: a stub that refers to an older version takes the place of the delivery of the served one,
// not away what that one owes.
func TestSpec36StubOnAnOlderBaseKeepsTheDebtOfItsOwnScope(t *testing.T) {
	var s State
	s, _ = s.Read(Read{Path: aPath, Scope: Full, Mode: ModeFull, Served: "H1", Lines: 3})
	s, _ = s.Read(Read{Path: aPath, Scope: Lines(2, 2), Mode: ModeFull, Served: "H2", Lines: 3, Text: "D"})
	s, _ = s.Read(Read{Path: aPath, Scope: Lines(2, 2), Mode: ModeUnchangedRange, Base: "H1", Served: "H2", Lines: 3})
	if base, ok := s.Range(aPath, 2, 2, "H2"); ok && len(base.Unproven) == 0 {
		t.Errorf("line 2: base %v, though it was last shown by a text that is not proven", base)
	}
}

// spec 3.6, spec 9.5: a version that something owed is proven with is one that the branch refers to.
func TestSpec36VersionsHoldWhatProofsNeed(t *testing.T) {
	var s State
	s, _ = s.Read(Read{Path: aPath, Scope: Lines(2, 2), Mode: ModeFull, Served: "H1", Lines: 3, Text: "D"})
	s, _ = s.Read(Read{Path: aPath, Scope: Lines(2, 2), Mode: ModeUnchangedRange, Base: "H1", Served: "H2", Lines: 3})
	if used := s.Versions(); !used["H1"] || !used["H2"] {
		t.Errorf("versions %v, want H1 and H2", used)
	}
}

// spec 4.8: the 65th range makes the oldest doubtful, and that one only.
func TestTheOldestRangeIsForgottenFirst(t *testing.T) {
	var s State
	for i := 1; i <= 65; i++ {
		s, _ = s.Read(Read{Path: aPath, Scope: Lines(i, i), Mode: ModeFull, Served: "H", Lines: 100})
	}
	if _, ok := s.Range(aPath, 1, 1, "H"); ok {
		t.Error("line 1 is still a base")
	}
	if _, ok := s.Range(aPath, 2, 65, "H"); !ok {
		t.Error("lines 2-65 are no base")
	}
	s, _ = s.Read(Read{Path: aPath, Scope: Lines(1, 1), Mode: ModeFull, Served: "H", Lines: 100})
	if _, ok := s.Range(aPath, 1, 1, "H"); !ok {
		t.Error("line 1 is no base after it was delivered again")
	}
}

// spec 4.8: two doubts that become one cover all that they covered, and what lies between.
func TestTheOldestDoubtsBecomeOne(t *testing.T) {
	var s State
	s, _ = s.Read(Read{Path: aPath, Scope: Full, Mode: ModeFull, Served: "H", Lines: 1000})
	for i := 1; i <= 65; i++ {
		s = s.Invalidate(aPath, Lines(10*i, 10*i))
	}
	for i := 1; i <= 65; i++ {
		if _, ok := s.Range(aPath, 10*i, 10*i, "H"); ok {
			t.Errorf("line %d is a base after its refresh", 10*i)
		}
	}
	if _, ok := s.Range(aPath, 11, 19, "H"); ok {
		t.Error("lines 11-19 lie between the two oldest doubts and are a base")
	}
	if _, ok := s.Range(aPath, 21, 29, "H"); !ok {
		t.Error("lines 21-29 were not doubted and are no base")
	}
}

// spec 4.1, spec 2.3: paths are keys; nothing goes from one to another.
func TestPathsAreApart(t *testing.T) {
	var s State
	s, _ = s.Read(Read{Path: "a", Scope: Full, Mode: ModeFull, Served: "H", Lines: 3})
	before, _ := s.Entire("a", "H")
	for _, next := range []State{
		s.Invalidate("b", Full), s.Invalidate("b", Lines(1, 2)), s.DoubtWhere(only("b")),
		func() State {
			n, _ := s.Read(Read{Path: "b", Scope: Full, Mode: ModeUnchanged, Base: "H", Served: "H", Lines: 3})
			return n
		}(),
	} {
		if after, ok := next.Entire("a", "H"); !ok || after.Hash != before.Hash {
			t.Errorf("a: base %v %v after an event of b", after, ok)
		}
		if _, ok := next.Entire("b", "H"); ok {
			t.Error("b has a base")
		}
	}
}
