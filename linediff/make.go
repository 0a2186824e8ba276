package linediff

import (
	"bytes"
	"context"
	"math"
)

// Limits bounds the inputs of [Make] and says when a diff is worth serving
// (spec 6.5). The zero Limits serves nothing.
type Limits struct {
	MaxBytes int // most bytes of either version
	MaxLines int // most lines of either version; a final '\n' does not start a line

	// A diff must have fewer than MaxByteRatio times the bytes of the plain read,
	// and at most MaxLineRatio times its lines. Ratios over 1 count as 1: an answer
	// is never longer than the plain read. NaN and ratios of 0 or less serve nothing.
	MaxByteRatio float64
	MaxLineRatio float64
}

// DefaultLimits returns 2 MiB, 12 000 lines, and ratios of 0.9 and 0.85. The ratios
// are below 1 because a diff costs its reader some thought, which a few saved bytes
// do not pay for.
func DefaultLimits() Limits {
	return Limits{MaxBytes: 2 << 20, MaxLines: 12000, MaxByteRatio: 0.9, MaxLineRatio: 0.85}
}

// A Reason says why [Make] serves no diff. The text is stable and may be logged.
type Reason string

// The reasons. With each but ReasonNone the plain read is to be served, or for
// ReasonEqual whatever says "unchanged".
const (
	ReasonNone       Reason = ""                // the diff is good
	ReasonEqual      Reason = "diff_equal"      // the versions are equal: there is nothing to show
	ReasonTooLarge   Reason = "diff_too_large"  // a version is over MaxBytes or MaxLines
	ReasonNotUseful  Reason = "diff_not_useful" // the diff is too long against the plain read
	ReasonUnverified Reason = "diff_unverified" // the diff failed, or did not give back current
	ReasonCancelled  Reason = "diff_cancelled"  // ctx ended
)

// Make returns a diff that may stand in for a plain read of current, or the reason
// why there is none; the Diff is then zero. The diff is within lim, it is shorter
// than the plain read by the ratios of lim, and it has been applied to base and gave
// current, byte for byte.
//
// plainBytes and plainLines measure the plain read as it would be served, that is
// cut where it would be cut. What the caller puts around the diff is not counted.
func Make(ctx context.Context, name string, base, current []byte, plainBytes, plainLines int, lim Limits) (Diff, Reason) {
	return makeWith(ctx, Unified, name, base, current, plainBytes, plainLines, lim)
}

// differ is the type of Unified. Tests put a wrong one in its place.
type differ func(ctx context.Context, name string, base, current []byte) (Diff, error)

func makeWith(ctx context.Context, diff differ, name string, base, current []byte, plainBytes, plainLines int, lim Limits) (Diff, Reason) {
	if !lim.allow(base) || !lim.allow(current) {
		return Diff{}, ReasonTooLarge
	}
	if bytes.Equal(base, current) {
		return Diff{}, ReasonEqual
	}
	d, err := diff(ctx, name, base, current)
	switch {
	case ctx.Err() != nil:
		return Diff{}, ReasonCancelled
	case err != nil || d.Text == "":
		return Diff{}, ReasonUnverified
	case !lim.useful(d, plainBytes, plainLines):
		return Diff{}, ReasonNotUseful
	}
	// The comparison is the part that can be subtly wrong, Apply the part that is
	// easy to check, so its word is what a served diff rests on.
	got, err := Apply(base, d.Text)
	if err != nil || !bytes.Equal(got, current) {
		return Diff{}, ReasonUnverified
	}
	return d, ReasonNone
}

// allow reports whether one version is small enough to be compared.
func (lim Limits) allow(version []byte) bool {
	if len(version) > lim.MaxBytes {
		return false
	}
	lines := bytes.Count(version, []byte("\n"))
	if n := len(version); n > 0 && version[n-1] != '\n' {
		lines++
	}
	return lines <= lim.MaxLines
}

// useful is the gate of spec 6.5. Its comparisons are false for NaN.
func (lim Limits) useful(d Diff, plainBytes, plainLines int) bool {
	byteRatio, lineRatio := math.Min(lim.MaxByteRatio, 1), math.Min(lim.MaxLineRatio, 1)
	return float64(len(d.Text)) < byteRatio*float64(plainBytes) &&
		float64(d.Lines) <= lineRatio*float64(plainLines)
}
