// Package linediff makes, applies and judges unified diffs between two versions
// of one text file.
//
// The size of the answer is the product, so the package owns its algorithm: cut
// the common ends, drop the lines that only one side has, run Myers' O(ND)
// comparison in linear space on the rest, and give up on a minimal answer (never
// on a correct one) where it would cost too much. Time is O((N+M)·maxCost) for N
// and M lines, whatever they hold; see [Unified].
//
// It knows bytes and lines. A line ends after each '\n', and only there: CR, BOM,
// NUL and invalid UTF-8 are ordinary content and survive a round trip. It does not
// know paths, encodings, sessions or trust, and it does no I/O. Whether a diff may
// be served at all (is its base in the model's context?) is decided elsewhere; the
// package only answers whether the diff is right and worth its bytes (spec 6.5).
package linediff

import (
	"context"
	"strings"
	"unsafe"
)

// Diff is a unified diff of two versions of a file.
// The zero Diff says that the versions are equal.
type Diff struct {
	// Text is the diff: two header lines, then hunks. It is empty or ends in '\n'.
	Text string
	// Changed counts changed lines as a reader does: for each run of changed lines
	// between unchanged ones max(removed, added), summed over the runs.
	Changed int
	// Lines is the number of lines of Text, headers and markers included.
	Lines int
}

// Unified returns the diff that turns base into current, with three lines of
// context and hunk headers "@@ -l,s +l,s @@" as git writes them, except that a
// count of 1 is written out. A last line without '\n' is followed by the usual
// "\ No newline at end of file". Equal inputs give the zero Diff.
//
// The name appears in the two header lines after "a/" and "b/". A character of it
// that does not print, or that is not UTF-8, becomes U+FFFD, so that no name can
// end the header early.
//
// Equal arguments give equal bytes. Time and memory are linear in the input, but
// Unified sets no limit of its own on its size; [Make] does. The only error is that
// of ctx, which is looked at regularly.
func Unified(ctx context.Context, name string, base, current []byte) (Diff, error) {
	if err := ctx.Err(); err != nil {
		return Diff{}, err
	}
	if string(base) == string(current) {
		return Diff{}, nil
	}
	a, b := splitLines(view(base)), splitLines(view(current))
	blocks, _, err := compare(ctx, a, b)
	if err != nil {
		return Diff{}, err
	}
	return render(name, a, b, blocks), nil
}

// view is content as a string without a copy, which would be a fifth of the time of a diff of two
// large files. It is good while the caller leaves content alone: for the length of a call.
func view(content []byte) string { return unsafe.String(unsafe.SliceData(content), len(content)) }

// splitLines cuts s after every '\n'. The pieces put together are s again; the
// last one lacks its '\n' if s does, which makes it differ from a line with one.
func splitLines(s string) []string {
	lines := make([]string, 0, countLines(s))
	for s != "" {
		end := strings.IndexByte(s, '\n') + 1
		if end == 0 {
			end = len(s)
		}
		lines = append(lines, s[:end])
		s = s[end:]
	}
	return lines
}

// countLines returns len(splitLines(s)).
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && s[len(s)-1] != '\n' {
		n++
	}
	return n
}
