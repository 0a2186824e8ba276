package trust

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// versions gives each version its number of lines; they differ, since the end of a file moves.
var versions = map[string]int{"H0": 3, "H1": 8, "H2": 5, "H3": 5}

func hashes() []string { return []string{"H0", "H1", "H2", "H3"} }

// anyEvent draws an event that metadata can describe, sensible or not.
func anyEvent(t *rapid.T) event {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	served := rapid.SampledFrom(hashes()).Draw(t, "served")
	switch kind {
	case 0:
		return event{unproven: true}
	case 1, 2:
		s := anyScope(t, lastLine)
		return event{invalidate: &s}
	}
	modes := []Mode{ModeFull, ModeFull, ModeFallback, ModeUnchanged, ModeUnchangedRange, ModeUnchangedRange, ModeDiff, "nonsense"}
	r := Read{Mode: rapid.SampledFrom(modes).Draw(t, "mode"), Served: served, Lines: versions[served]}
	r.Scope = anyScope(t, r.Lines)
	if !r.Mode.Anchor() {
		r.Base = rapid.SampledFrom(hashes()).Draw(t, "base")
	}
	if r.Mode == ModeUnchanged || r.Mode == ModeDiff {
		r.Scope = Full // the other case is in derived.txt
	}
	return event{read: &r}
}

func anyScope(t *rapid.T, lines int) Scope {
	if rapid.IntRange(0, 2).Draw(t, "whole") == 0 {
		return Full
	}
	lo := rapid.IntRange(1, lines).Draw(t, "lo")
	return Lines(lo, rapid.IntRange(lo, lines).Draw(t, "hi"))
}

// spec 4.1, spec 4.2, spec 4.3, spec 4.4, spec 4.5, spec 4.7: State answers every question as the
// table of lines does, whatever happened.
func TestStateAnswersAsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pair
		n := rapid.IntRange(1, 14).Draw(t, "events")
		for range n {
			e := anyEvent(t)
			t.Log(e)
			next, err := p.step(e)
			if err == nil {
				err = next.ask(lastLine, append(hashes(), "new"))
			}
			if err != nil {
				t.Fatal(err)
			}
			p = next
		}
	})
}

// spec 4.3, spec 4.7: the same, for every sequence of up to four events over a small alphabet, so
// that no rare interplay is left to luck.
func TestStateAnswersAsTheModelForAllShortHistories(t *testing.T) {
	depth := 4
	if testing.Short() || raceDetector {
		depth = 3
	}
	lines := map[string]int{"H0": 2, "H1": 3}
	anchor := func(s Scope, hash string) event {
		return event{read: &Read{Scope: s, Mode: ModeFull, Served: hash, Lines: lines[hash]}}
	}
	derived := func(m Mode, s Scope, base, served string) event {
		return event{read: &Read{Scope: s, Mode: m, Base: base, Served: served, Lines: lines[served]}}
	}
	refresh := func(s Scope) event { return event{invalidate: &s} }
	alphabet := []event{
		anchor(Full, "H0"), anchor(Full, "H1"),
		anchor(Lines(1, 1), "H0"), anchor(Lines(1, 1), "H1"), anchor(Lines(2, 2), "H0"), anchor(Lines(2, 3), "H1"),
		derived(ModeUnchanged, Full, "H0", "H0"),
		derived(ModeDiff, Full, "H0", "H1"), derived(ModeDiff, Full, "H1", "H0"),
		derived(ModeUnchangedRange, Lines(1, 1), "H0", "H1"), derived(ModeUnchangedRange, Lines(1, 2), "H1", "H1"),
		refresh(Lines(1, 1)), refresh(Lines(1, 2)), refresh(Full),
	}
	var walk func(p pair, trail []event) error
	walk = func(p pair, trail []event) error {
		for _, e := range alphabet {
			trail := append(slices.Clone(trail), e)
			next, err := p.step(e)
			if err == nil {
				err = next.ask(3, []string{"H0", "H1", "new"})
			}
			if err == nil && len(trail) < depth {
				err = walk(next, trail)
			} else if err != nil {
				err = fmt.Errorf("%w\nafter %v", err, trail)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(pair{}, nil); err != nil {
		t.Fatal(err)
	}
}

// spec 1.3, spec 5.1: a state that was handed out never changes, whatever is made from it.
func TestStatesAreImmutable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := []pair{{}}
		was := []string{answersOf(State{})}
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			from := rapid.SampledFrom(states).Draw(t, "from")
			next, err := from.step(anyEvent(t))
			if err != nil {
				continue // that is another test's business
			}
			states = append(states, next)
			was = append(was, answersOf(next.state))
		}
		for i, p := range states {
			if got := answersOf(p.state); got != was[i] {
				t.Fatalf("state %d changed:\n%s\nwas\n%s", i, got, was[i])
			}
		}
	})
}

func answersOf(s State) string {
	out := dump(s)
	for _, h := range append(hashes(), "new") {
		base, ok := s.Entire(aPath, h)
		out += fmt.Sprintln(h, base, ok)
		for lo := 1; lo <= lastLine; lo++ {
			base, ok := s.Range(aPath, lo, min(lo+2, lastLine), h)
			out += fmt.Sprintln(h, lo, base, ok)
		}
	}
	return out
}

// spec 4.8: with more slots and doubts than are kept, State may know less than the model, never
// more; and it keeps no more than the limits.
func TestForgettingIsDoubting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State
		var m bigModel
		for range rapid.IntRange(60, 160).Draw(t, "events") {
			lo := rapid.IntRange(1, bigLines).Draw(t, "lo")
			scope := Lines(lo, min(bigLines, lo+rapid.IntRange(0, 4).Draw(t, "more")))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				s = s.Invalidate(aPath, scope)
				m.doubt(scope)
			default:
				hash := rapid.SampledFrom([]string{"H0", "H1"}).Draw(t, "hash")
				s, _ = s.Read(Read{Path: aPath, Scope: scope, Mode: ModeFull, Served: hash, Lines: bigLines})
				m.read(scope, hash)
			}
		}
		f := s.file(aPath)
		if f != nil && (len(f.ranges) > 64 || len(f.doubts) > 64) {
			t.Fatalf("%d ranges and %d doubts are kept", len(f.ranges), len(f.doubts))
		}
		for lo := 1; lo <= bigLines; lo++ {
			for hi := lo; hi <= min(lo+1, bigLines); hi++ {
				if base, ok := s.Range(aPath, lo, hi, "new"); ok && !m.sure(lo, hi, base.Hash) {
					t.Fatalf("lines %d-%d: base %v, but that is not the last view of them", lo, hi, base)
				}
			}
		}
	})
}

// bigModel is only what was seen last of each line: no base may say otherwise.
type bigModel [bigLines + 1]string

const bigLines = 200

func (m *bigModel) read(s Scope, hash string) {
	for i := s.Start; i <= s.End; i++ {
		m[i] = hash
	}
}

func (m *bigModel) doubt(s Scope) { m.read(s, "") }

func (m *bigModel) sure(lo, hi int, hash string) bool {
	return !slices.ContainsFunc(m[lo:hi+1], func(h string) bool { return h != hash })
}
