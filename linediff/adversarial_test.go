package linediff

import (
	"context"
	"math/rand/v2"
	"testing"
)

// adversaries returns pairs of versions of n lines that are known to be hard on line
// comparison: nothing unique, everything moved, much repeated, no end in common.
func adversaries(rng *rand.Rand, n int) map[string][2][]string {
	distinct := numbered("line ", n)
	half := n / 2
	return map[string][2][]string{
		"all distinct, nothing shared": {numbered("a", n), numbered("b", n)},
		"all equal, unrelated":         {cycle(n, "a"), cycle(n, "b")},
		"all equal, other length":      {cycle(n, "a"), cycle(half, "a")},
		"all equal, framed":            {append(cycle(n, "a"), "x\n"), append([]string{"x\n"}, cycle(n, "a")...)},
		"distinct, shuffled":           {distinct, shuffled(rng, distinct)},
		"distinct, reversed":           {distinct, reversed(distinct)},
		"halves swapped":               {distinct, append(append([]string{}, distinct[half:]...), distinct[:half]...)},
		"two kinds":                    {drawn(rng, n, 2), drawn(rng, n, 2)},
		"three kinds, shuffled":        {cycle(n, "a", "b", "c"), shuffled(rng, cycle(n, "a", "b", "c"))},
		"thirty kinds":                 {drawn(rng, n, 30), drawn(rng, n, 30)},
		"a thousand kinds":             {drawn(rng, n, 1000), drawn(rng, n, 1000)},
		"alternating, out of step":     {cycle(n, "a", "b"), cycle(n, "b", "a")},
		"alternating, two periods":     {cycle(n, "a", "b"), cycle(n, "a", "a", "b", "b")},
		"alternating, primes":          {cycle(n, "a", "b", "c", "d", "e"), cycle(n, "a", "c", "b", "e", "d", "b", "a")},
		"few against many":             {drawn(rng, n/20, 3), drawn(rng, n, 5)},
		"many against few":             {drawn(rng, n, 5), drawn(rng, n/20, 3)},
		"every other line new":         {cycle(n, "a"), mixed(cycle(half, "a"), numbered("new ", half))},
		"every other line gone":        {mixed(cycle(half, "a"), cycle(half, "b")), cycle(half, "a")},
	}
}

// mixed takes lines from a and b in turn.
func mixed(a, b []string) []string {
	var out []string
	for i := range a {
		out = append(out, a[i], b[i])
	}
	return out
}

// The work on any input is at most about the lines times the cost cap: a division
// that is capped costs some 2·maxCost²/2 steps, and the matches on the way, and gets
// maxCost lines further.
func TestWorkIsBounded(t *testing.T) {
	const n = 2500 // enough to reach the cap; the next test shows the growth from here
	for name, c := range adversaries(rand.New(rand.NewPCG(7, 7)), n) {
		t.Run(name, func(t *testing.T) { checkWork(t, c[0], c[1]) })
		t.Run(name+", turned", func(t *testing.T) { checkWork(t, reversed(c[0]), reversed(c[1])) })
	}
}

func checkWork(t *testing.T, a, b []string) {
	t.Helper()
	blocks, w, err := compare(context.Background(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	lines := len(a) + len(b)
	t.Logf("%+v, %d blocks", w, len(blocks))
	if limit := 2 * maxCost * lines; w.steps > limit {
		t.Errorf("%d steps for %d lines, want at most %d", w.steps, lines, limit)
	}
	if w.astray != 0 {
		t.Errorf("%d divisions went astray", w.astray)
	}
	if w.splits > lines {
		t.Errorf("%d splits for %d lines", w.splits, lines)
	}
	if limit := 9 * lines; w.slides > limit {
		t.Errorf("%d slides for %d lines, want at most %d", w.slides, lines, limit)
	}
	checkBlocks(t, a, b, blocks)
	roundTrip(t, join(a), join(b))
}

// Four times the lines may cost about four times the work once the cap is reached,
// not sixteen times.
func TestWorkGrowsLinearly(t *testing.T) {
	steps := func(n int) int {
		lines := numbered("line ", n)
		_, w, err := compare(context.Background(), lines, shuffled(rand.New(rand.NewPCG(3, 3)), lines))
		if err != nil {
			t.Fatal(err)
		}
		if w.capped == 0 {
			t.Fatalf("the cost cap was not reached with %d lines", n)
		}
		return w.steps
	}
	small, large := steps(3000), steps(12000)
	if large > 6*small {
		t.Errorf("4 times the lines cost %d steps against %d", large, small)
	}
}

// Lines that only one side has are never searched, however many.
func TestOneSidedLinesAreFree(t *testing.T) {
	all := adversaries(rand.New(rand.NewPCG(1, 1)), 4000)
	for _, name := range []string{"all distinct, nothing shared", "every other line new", "every other line gone"} {
		_, w, err := compare(context.Background(), all[name][0], all[name][1])
		if err != nil || w.steps > 4000 || w.splits > 0 {
			t.Errorf("%s: %+v, %v", name, w, err)
		}
	}
}

// The largest files that DefaultLimits lets through.
func TestTwelveThousandLines(t *testing.T) {
	for _, percent := range []int{1, 10, 90} {
		base, current := editedProgram(12000, percent)
		a, b := splitLines(string(base)), splitLines(string(current))
		_, w, err := compare(context.Background(), a, b)
		if err != nil {
			t.Fatal(err)
		}
		// Seen: 94 000, 403 000 and 2 589 000.
		if limit := map[int]int{1: 140_000, 10: 600_000, 90: 4_000_000}[percent]; w.steps > limit {
			t.Errorf("%d %%: %d steps, want at most %d", percent, w.steps, limit)
		}
		t.Logf("%d %%: %+v", percent, w)
		roundTrip(t, base, current)
	}
}

// checkBlocks fails if blocks do not turn a into b, are empty, or touch.
func checkBlocks(t *testing.T, a, b []string, blocks []block) {
	t.Helper()
	i, j := 0, 0
	for n, k := range append(append([]block{}, blocks...), block{len(a), len(a), len(b), len(b)}) {
		last := n == len(blocks)
		if k.a0-i != k.b0-j || k.a0 < i || (n > 0 && !last && k.a0 == i) {
			t.Fatalf("block %d %+v does not follow a:%d b:%d", n, k, i, j)
		}
		for ; i < k.a0; i, j = i+1, j+1 {
			if a[i] != b[j] {
				t.Fatalf("unchanged lines differ: a[%d]=%q b[%d]=%q", i, a[i], j, b[j])
			}
		}
		if k.a1 < k.a0 || k.b1 < k.b0 || (!last && k.a1 == k.a0 && k.b1 == k.b0) {
			t.Fatalf("block %d %+v is empty or reversed", n, k)
		}
		i, j = k.a1, k.b1
	}
}
