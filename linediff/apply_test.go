package linediff

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

const header = "--- a/f\n+++ b/f\n"

// Apply refuses everything that Unified would not write for this base.
func TestApplyRefuses(t *testing.T) {
	const base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	const good = header + "@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+5b\n 6\n 7\n 8\n"
	if got, err := Apply([]byte(base), good); err != nil || string(got) != "1\n2\n3\n4\nfive\n5b\n6\n7\n8\n9\n" {
		t.Fatalf("the good diff: %q, %v", got, err)
	}
	change := func(old, new string) string {
		t.Helper()
		if strings.Count(good, old) != 1 {
			t.Fatalf("%q is not once in the good diff", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, c := range []struct {
		name, diff string
		want       error
	}{
		{"no header", strings.TrimPrefix(good, header), errHeader},
		{"header only", header, errCut},
		{"half a header", "--- a/f\n", errCut},
		{"two names", change("+++ b/f", "+++ b/g"), errHeader},
		{"headers exchanged", change("--- a/f\n+++ b/f\n", "+++ b/f\n--- a/f\n"), errHeader},
		{"text before the header", "diff --git a/f b/f\n" + good, errHeader},
		{"cut in a line", good[:len(good)-1], errCut},
		{"cut after a line", strings.TrimSuffix(good, " 8\n"), errCut},
		{"a line too many", good + " 9\n", errHunk},
		{"text after the end", good + "\n", errHunk},
		{"base position one up", change("-2,7", "-1,7"), errPlace},
		{"both positions one up", change("-2,7 +2,8", "-1,7 +1,8"), errBase},
		{"base position one down", change("-2,7", "-3,7"), errPlace},
		{"both positions one down", change("-2,7 +2,8", "-3,7 +3,8"), errBase},
		{"current position one up", change("+2,8", "+1,8"), errPlace},
		{"current position one down", change("+2,8", "+3,8"), errPlace},
		{"position past the end", change("-2,7 +2,8", "-99,7 +99,8"), errPlace},
		{"removed count too small", change("-2,7", "-2,6"), errCount},
		{"removed count too large", change("-2,7", "-2,8"), errCut},
		{"added count too small", change("+2,8", "+2,7"), errCount},
		{"added count too large", change("+2,8", "+2,9"), errCut},
		{"count missing", change("-2,7", "-2"), errHunk},
		{"leading zero", change("-2,7", "-02,7"), errHunk},
		{"plus sign", change("-2,7", "-2,+7"), errHunk},
		{"negative", change("-2,7", "--2,7"), errHunk},
		{"huge", change("-2,7", "-2,99999999999999999999"), errHunk},
		{"large", change("-2,7", "-2,2147483647"), errHunk},
		{"line 0 of a span", change("-2,7", "-0,7"), errHunk},
		{"section after the header", change(" @@\n", " @@ func f\n"), errHunk},
		{"CR after the header", change(" @@\n", " @@\r\n"), errHunk},
		{"other context", change(" 3\n", " x\n"), errBase},
		{"context with CR", change(" 3\n", " 3\r\n"), errBase},
		{"other removed line", change("-5\n", "-6\n"), errBase},
		{"line without a mark", change(" 3\n", "3\n"), errMark},
		{"empty line", change(" 3\n", "\n"), errMark},
		{"marker in place of a line", change(" 3\n", noNewline), errBase},
		{"marker before any line", change(" 2\n", noNewline), errMark},
		{"marker twice", change(" 8\n", " 8\n"+noNewline+noNewline), errBase},
		{"marker after added line in the middle", change("+five\n", "+five\n"+noNewline), errNewline},
		{"marker after removed line that has its newline", change("-5\n", "-5\n"+noNewline), errBase},
		{"marker after the last context", good + noNewline, errBase},
		{"marker after an empty line", change("+five\n", "+\n"+noNewline), errMark},
		{"hunk without change", header + "@@ -1,1 +1,1 @@\n 1\n", errIdle},
		{"hunk without lines", header + "@@ -0,0 +0,0 @@\n", errIdle},
		{"hunk twice", good + strings.TrimPrefix(good, header), errPlace},
		{"hunks out of order", header + "@@ -5,1 +5,1 @@\n-5\n+x\n@@ -1,1 +1,1 @@\n-1\n+y\n", errPlace},
		{"hunks overlap", header + "@@ -1,1 +1,1 @@\n-1\n+x\n@@ -1,1 +2,1 @@\n-2\n+y\n", errPlace},
		{"second hunk forgets the shift", header + "@@ -0,0 +1,1 @@\n+0\n@@ -5,1 +5,1 @@\n-5\n+x\n", errPlace},
		{"context past the end", header + "@@ -9,2 +9,1 @@\n-9\n 10\n", errBase},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Apply([]byte(base), c.diff)
			if !errors.Is(err, c.want) || got != nil {
				t.Errorf("Apply = %q, %v, want error %v", got, err, c.want)
			}
		})
	}
}

func TestApplyRefusesLastLine(t *testing.T) {
	for _, c := range []struct {
		name, base, diff string
		want             error
	}{
		{"newline gained by context", "a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", errBase},
		{"removed line claims a newline", "a\nb", "@@ -1,2 +1,1 @@\n a\n-b\n", errBase},
		{"added after a copied last line", "a\nb", "@@ -2,0 +3,1 @@\n+c\n", errNewline},
		{"lines follow an added last line", "a\nb\n", "@@ -1,1 +1,1 @@\n-a\n+A\n" + noNewline, errNewline},
		{"anything of an empty base", "", "@@ -1,1 +0,0 @@\n-a\n", errBase},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := Apply([]byte(c.base), header+c.diff); !errors.Is(err, c.want) || got != nil {
				t.Errorf("Apply = %q, %v, want error %v", got, err, c.want)
			}
		})
	}
}

// An error says which line of the diff is wrong.
func TestApplyErrorNamesLine(t *testing.T) {
	for want, diff := range map[string]string{
		"diff line 6: ": header + "@@ -1,2 +1,2 @@\n-a\n+A\n c\n",
		"diff line 7: ": header + "@@ -1,2 +1,2 @@\n a\n-b\n" + noNewline + "?\n",
	} {
		if _, err := Apply([]byte("a\nb"), diff); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want it to start %q", err, want)
		}
	}
}

func TestApplyLeavesBaseAlone(t *testing.T) {
	base := []byte("a\nb\nc\n")
	for _, diff := range []string{"", header + "@@ -1,1 +1,1 @@\n-a\n+x\n"} {
		got, err := Apply(base, diff)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i] = '!'
		}
		if string(base) != "a\nb\nc\n" {
			t.Fatalf("the result of diff %q shares memory with base: %q", diff, base)
		}
	}
}

// Apply never takes a damaged diff for something else: it fails, or what it gives is
// what the damaged text says, which the inverse then takes back.
func TestApplyDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	lines := drawn(rng, 60, 6)
	base, current := join(lines), join(edit(rng, lines, 20))
	good := unified(t, base, current).Text
	refused := 0
	const tries = 5000
	for range tries {
		diff := damage(rng, good)
		if !appliesFaithfully(t, base, diff) {
			refused++
		}
	}
	if refused < tries/2 {
		t.Errorf("only %d of %d damaged diffs were refused", refused, tries)
	}
}

// damage changes, drops or repeats a few bytes or a line.
func damage(rng *rand.Rand, diff string) string {
	b := []byte(diff)
	at := rng.IntN(len(b))
	switch rng.IntN(4) {
	case 0:
		b[at] = "0123456789 -+@\n\\,"[rng.IntN(17)]
	case 1:
		b = append(b[:at], b[min(len(b), at+1+rng.IntN(9)):]...)
	case 2:
		b = b[:at]
	default:
		lines := splitLines(diff)
		i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		b = join(lines)
	}
	return string(b)
}

// appliesFaithfully reports whether the diff applies, and fails the test if the
// result is not bounded or not what the diff says.
func appliesFaithfully(t *testing.T, base []byte, diff string) bool {
	t.Helper()
	before := bytes.Clone(base)
	got, err := Apply(base, diff)
	if !bytes.Equal(base, before) {
		t.Fatalf("Apply changed its base with %q", diff)
	}
	if err != nil {
		if got != nil {
			t.Fatalf("Apply returned %q with error %v", got, err)
		}
		return false
	}
	if len(got) > len(base)+len(diff) {
		t.Fatalf("%d bytes from a base of %d and a diff of %d", len(got), len(base), len(diff))
	}
	if diff == "" {
		return true
	}
	if back, err := Apply(got, invert(diff)); err != nil || !bytes.Equal(back, base) {
		t.Fatalf("the inverse of %q gives %q, %v, want %q", diff, back, err, base)
	}
	return true
}
