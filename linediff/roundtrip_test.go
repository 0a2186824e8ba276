package linediff

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// testingT is what *testing.T, *testing.B and *rapid.T have in common.
type testingT interface {
	Helper()
	Fatalf(format string, args ...any)
}

// roundTrip checks all that must hold for any pair of versions.
func roundTrip(t testingT, base, current []byte) Diff {
	t.Helper()
	d, err := Unified(context.Background(), "f", base, current)
	if err != nil {
		t.Fatalf("Unified: %v", err)
	}
	roundTripOf(t, base, current, d)
	return d
}

func roundTripOf(t testingT, base, current []byte, d Diff) {
	t.Helper()
	got, err := Apply(base, d.Text)
	if err != nil || !bytes.Equal(got, current) {
		t.Fatalf("Apply = %q, %v, want %q\nbase %q\ndiff:\n%s", got, err, current, base, d.Text)
	}
	back, err := Apply(current, invert(d.Text))
	if err != nil || !bytes.Equal(back, base) {
		t.Fatalf("Apply of the inverse = %q, %v, want %q", back, err, base)
	}
	if (d == Diff{}) != bytes.Equal(base, current) {
		t.Fatalf("base %q, current %q: diff %+v", base, current, d)
	}
	if d.Lines != strings.Count(d.Text, "\n") || (d.Text != "" && !strings.HasSuffix(d.Text, "\n")) {
		t.Fatalf("Lines is %d in %+v", d.Lines, d)
	}
	removed, added := tally(d.Text)
	if d.Changed > removed+added || d.Changed < max(removed, added) || 2*d.Changed < removed+added {
		t.Fatalf("Changed is %d with %d removed and %d added", d.Changed, removed, added)
	}
}

// invert returns the diff of the opposite direction: removed and added change places
// in every line and hunk header.
func invert(diff string) string {
	var out strings.Builder
	n := 0
	for line := range strings.Lines(diff) {
		n++
		switch {
		case n <= 2:
		case strings.HasPrefix(line, "@@ -"):
			f := strings.Fields(line)
			line = "@@ -" + f[2][1:] + " +" + f[1][1:] + " @@\n"
		case line[0] == '-':
			line = "+" + line[1:]
		case line[0] == '+':
			line = "-" + line[1:]
		}
		out.WriteString(line)
	}
	return out.String()
}

// genLiney draws files of a few kinds of lines, with and without a last newline.
func genLiney() *rapid.Generator[[]byte] {
	line := rapid.SampledFrom([]string{
		"a", "b", "c", "d", "", "", "}", "a\r", "\r", "\ufeffa", "\x00", "-", "+", " ", "\\",
		"-- a/f", "++ b/f", "@@ -1,1 +1,1 @@", "\\ No newline at end of file", "\xff\xfe",
	})
	return rapid.Custom(func(t *rapid.T) []byte {
		s := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "newline") {
			s += "\n"
		}
		return []byte(s)
	})
}

// genEdited draws a version made from base, which two independent draws rarely give.
func genEdited(base []byte) *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		lines := splitLines(string(base))
		for range rapid.IntRange(0, 6).Draw(t, "edits") {
			at := rapid.IntRange(0, len(lines)).Draw(t, "at")
			to := min(len(lines), at+rapid.IntRange(0, 3).Draw(t, "cut"))
			paste := splitLines(string(genLiney().Draw(t, "paste")))
			paste = paste[:min(len(paste), 3)]
			lines = append(append(append([]string{}, lines[:at]...), paste...), lines[to:]...)
		}
		return join(lines)
	})
}

func genBytey() *rapid.Generator[[]byte] {
	return rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n\n\r\x00\xff-+ @\\")), 0, 200)
}

func TestRoundTripLiney(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, genLiney().Draw(t, "base"), genLiney().Draw(t, "current"))
	})
}

func TestRoundTripEdited(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := genLiney().Draw(t, "base")
		roundTrip(t, base, genEdited(base).Draw(t, "current"))
	})
}

func TestRoundTripBytey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roundTrip(t, genBytey().Draw(t, "base"), genBytey().Draw(t, "current"))
	})
}

// Below the cost cap the comparison is exact: it marks as few lines as the textbook
// table of longest common subsequences allows.
func TestMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := genLiney().Draw(t, "base")
		current := rapid.OneOf(genLiney(), genEdited(base)).Draw(t, "current")
		a, b := splitLines(string(base)), splitLines(string(current))
		blocks, w, err := compare(context.Background(), a, b)
		if err != nil || w.capped != 0 {
			t.Fatalf("compare: %v, %+v", err, w)
		}
		got := 0
		for _, k := range blocks {
			got += k.a1 - k.a0 + k.b1 - k.b0
		}
		if want := len(a) + len(b) - 2*commonLines(a, b); got != want {
			t.Fatalf("%d lines removed or added, the minimum is %d\n%q\n%q", got, want, a, b)
		}
	})
}

// commonLines returns the length of the longest common subsequence, the slow way.
func commonLines(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func TestDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 5 {
		lines := program(rng, 3000)
		base, current := join(lines), join(edit(rng, lines, 30))
		first := unified(t, base, current)
		again := unified(t, bytes.Clone(base), bytes.Clone(current))
		if first != again {
			t.Fatal("two diffs of the same versions differ")
		}
	}
}

// countdown is a context that ends after it has been asked a number of times, so a
// test can end it in the middle of the work on any machine.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancel(t *testing.T) {
	lines := numbered("line ", 4000)
	base, current := join(lines), join(shuffled(rand.New(rand.NewPCG(2, 2)), lines))
	asked := &countdown{Context: t.Context(), left: 1 << 30}
	if _, err := Unified(asked, "f", base, current); err != nil {
		t.Fatal(err)
	}
	total := 1<<30 - asked.left
	if total < 20 {
		t.Fatalf("the context was looked at %d times during the hardest work", total)
	}
	for _, left := range []int{0, 1, 2, total / 2, total - 1} {
		d, err := Unified(&countdown{Context: t.Context(), left: left}, "f", base, current)
		if !errors.Is(err, context.Canceled) || (d != Diff{}) {
			t.Errorf("ended at look %d of %d: %d bytes, error %v", left, total, len(d.Text), err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Unified(ended, "f", []byte("a\n"), []byte("a\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("equal versions, ended context: %v", err)
	}
	// Without any search there is still a look at the end.
	once := &countdown{Context: t.Context(), left: 1}
	if d, err := Unified(once, "f", []byte("a\n"), []byte("b\n")); !errors.Is(err, context.Canceled) || (d != Diff{}) {
		t.Errorf("ended after the first look: %+v, %v", d, err)
	}
}
