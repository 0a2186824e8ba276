package linediff

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// spec 6.5
func TestDefaultLimits(t *testing.T) {
	want := Limits{MaxBytes: 2097152, MaxLines: 12000, MaxByteRatio: 0.9, MaxLineRatio: 0.85}
	if got := DefaultLimits(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// spec 6.5: each limit at its edge and one past it.
func TestMakeInputLimits(t *testing.T) {
	lim := Limits{MaxBytes: 40, MaxLines: 10, MaxByteRatio: 1, MaxLineRatio: 1}
	lines := func(n int) []byte { return bytes.Repeat([]byte("x\n"), n) }
	for _, c := range []struct {
		name          string
		base, current []byte
		want          Reason
	}{
		{"base has most lines", lines(10), lines(9), ReasonNone},
		{"base has a line too many", lines(11), lines(9), ReasonTooLarge},
		{"base has an open line too many", append(lines(10), 'x'), lines(9), ReasonTooLarge},
		{"current has most lines", lines(9), lines(10), ReasonNone},
		{"current has a line too many", lines(9), lines(11), ReasonTooLarge},
		{"base has most bytes", bytes.Repeat([]byte("x"), 40), lines(1), ReasonNone},
		{"base has a byte too many", bytes.Repeat([]byte("x"), 41), lines(1), ReasonTooLarge},
		{"current has most bytes", lines(1), bytes.Repeat([]byte("x"), 40), ReasonNone},
		{"current has a byte too many", lines(1), bytes.Repeat([]byte("x"), 41), ReasonTooLarge},
		{"equal, and too large", lines(11), lines(11), ReasonTooLarge},
		{"equal", lines(10), lines(10), ReasonEqual},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, why := Make(t.Context(), "f", c.base, c.current, 1000, 1000, lim)
			checkMade(t, c.base, c.current, d, why, c.want)
		})
	}
}

// spec 6.5: the gate against the plain read. The diff has 5 lines and 52 bytes.
func TestMakeUseful(t *testing.T) {
	base, current := []byte("a\n"), []byte("b\n")
	if d := unified(t, base, current); len(d.Text) != 52 || d.Lines != 5 {
		t.Fatalf("the diff of this test has %d bytes, %d lines", len(d.Text), d.Lines)
	}
	nan := math.NaN()
	for _, c := range []struct {
		name                   string
		plainBytes, plainLines int
		byteRatio, lineRatio   float64
		want                   Reason
	}{
		{"one byte shorter", 53, 100, 1, 1, ReasonNone},
		{"as many bytes", 52, 100, 1, 1, ReasonNotUseful},
		{"as many lines", 100, 5, 1, 1, ReasonNone},
		{"one line longer", 100, 4, 1, 1, ReasonNotUseful},
		{"half the bytes and one more", 105, 100, 0.5, 1, ReasonNone},
		{"half the bytes", 104, 100, 0.5, 1, ReasonNotUseful},
		{"half the lines", 100, 10, 1, 0.5, ReasonNone},
		{"over half the lines", 100, 9, 1, 0.5, ReasonNotUseful},
		{"a byte ratio over 1 allows no longer answer", 52, 100, 5, 1, ReasonNotUseful},
		{"a line ratio over 1 allows no longer answer", 100, 4, 1, math.Inf(1), ReasonNotUseful},
		{"plain read of nothing", 0, 0, 1, 1, ReasonNotUseful},
		{"no bytes ratio", 1000, 1000, 0, 1, ReasonNotUseful},
		{"no lines ratio", 1000, 1000, 1, 0, ReasonNotUseful},
		{"byte ratio NaN", 1000, 1000, nan, 1, ReasonNotUseful},
		{"line ratio NaN", 1000, 1000, 1, nan, ReasonNotUseful},
	} {
		t.Run(c.name, func(t *testing.T) {
			lim := Limits{MaxBytes: 100, MaxLines: 100, MaxByteRatio: c.byteRatio, MaxLineRatio: c.lineRatio}
			d, why := Make(t.Context(), "file.txt", base, current, c.plainBytes, c.plainLines, lim)
			checkMade(t, base, current, d, why, c.want)
		})
	}
}

func TestMakeZeroLimits(t *testing.T) {
	d, why := Make(t.Context(), "f", nil, []byte("a\n"), 1000, 1000, Limits{})
	checkMade(t, nil, []byte("a\n"), d, why, ReasonTooLarge)
}

// The use the package is for: a small edit in a file of some size.
func TestMakeServes(t *testing.T) {
	base := join(numbered("line ", 500))
	current := bytes.Replace(base, []byte("line 250\n"), []byte("line two hundred and fifty\n"), 1)
	d, why := Make(t.Context(), "f", base, current, len(current), 501, DefaultLimits())
	checkMade(t, base, current, d, why, ReasonNone)
	if d.Changed != 1 || d.Lines != 11 {
		t.Errorf("Changed %d, Lines %d, want 1, 11", d.Changed, d.Lines)
	}
	rewritten := join(numbered("other ", 500))
	d, why = Make(t.Context(), "f", base, rewritten, len(rewritten), 501, DefaultLimits())
	checkMade(t, base, rewritten, d, why, ReasonNotUseful)
}

// A wrong comparison must never be served: Make relies on Apply alone.
func TestMakeVerifies(t *testing.T) {
	base, current := []byte("a\nb\nc\n"), []byte("a\nB\nc\n")
	good := unified(t, base, current)
	for name, text := range map[string]string{
		"another change":  strings.Replace(good.Text, "+B", "+X", 1),
		"wrong position":  strings.Replace(good.Text, "-1,3", "-2,3", 1),
		"half a diff":     good.Text[:len(good.Text)-3],
		"no diff":         "",
		"no newline here": good.Text + noNewline,
	} {
		wrong := func(context.Context, string, []byte, []byte) (Diff, error) {
			return Diff{Text: text, Changed: 1, Lines: 7}, nil
		}
		d, why := makeWith(t.Context(), wrong, "f", base, current, 1000, 1000, DefaultLimits())
		if why != ReasonUnverified || d != (Diff{}) {
			t.Errorf("%s: reason %q, diff %+v", name, why, d)
		}
	}
	junk := func(context.Context, string, []byte, []byte) (Diff, error) { return Diff{Text: "junk"}, nil }
	if d, why := makeWith(t.Context(), junk, "f", base, nil, 1000, 1000, DefaultLimits()); why != ReasonUnverified || d != (Diff{}) {
		t.Errorf("junk against an empty version: reason %q, diff %+v", why, d)
	}
	failing := func(context.Context, string, []byte, []byte) (Diff, error) { return good, errors.New("broken") }
	if d, why := makeWith(t.Context(), failing, "f", base, current, 1000, 1000, DefaultLimits()); why != ReasonUnverified || d != (Diff{}) {
		t.Errorf("failing: reason %q, diff %+v", why, d)
	}
}

func TestMakeCancelled(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	base, current := []byte("a\n"), []byte("b\n")
	for name, ctx := range map[string]context.Context{"cancelled": cancelled, "late": late} {
		if d, why := Make(ctx, "f", base, current, 1000, 1000, DefaultLimits()); why != ReasonCancelled || d != (Diff{}) {
			t.Errorf("%s: reason %q, diff %+v", name, why, d)
		}
	}
}

func checkMade(t *testing.T, base, current []byte, d Diff, got, want Reason) {
	t.Helper()
	if got != want {
		t.Fatalf("reason %q, want %q", got, want)
	}
	if want != ReasonNone {
		if d != (Diff{}) {
			t.Fatalf("reason %q with diff %+v", got, d)
		}
		return
	}
	roundTripOf(t, base, current, d)
}
