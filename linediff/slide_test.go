package linediff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each letter of base and current is a line.
func TestSlide(t *testing.T) {
	for _, c := range []struct {
		name, base, current string
		in, want            []block
	}{
		{"nothing equal around it", "abc", "ac", []block{{1, 2, 1, 1}}, []block{{1, 2, 1, 1}}},
		{"down over one", "xaab", "xab", []block{{1, 2, 1, 1}}, []block{{2, 3, 2, 2}}},
		{"down over two, to the end", "xaaa", "xaa", []block{{1, 2, 1, 1}}, []block{{3, 4, 3, 3}}},
		{"an insertion moves too", "xab", "xaab", []block{{1, 1, 1, 2}}, []block{{2, 2, 2, 3}}},
		{"a rotation", "xabac", "xac", []block{{1, 3, 1, 1}}, []block{{2, 4, 2, 2}}},
		{"a replacement stays", "xaab", "xcab", []block{{1, 2, 1, 2}}, []block{{1, 2, 1, 2}}},
		{"a low place stays", "xaab", "xab", []block{{2, 3, 2, 2}}, []block{{2, 3, 2, 2}}},
		{
			"up against a replacement rather than down", "qaaaz", "Qaaz",
			[]block{{0, 1, 0, 1}, {2, 3, 2, 2}},
			[]block{{0, 2, 0, 1}},
		},
		{
			"down against a replacement", "xaaq", "xaQ",
			[]block{{1, 2, 1, 1}, {3, 4, 2, 3}},
			[]block{{2, 4, 2, 3}},
		},
		{
			"one line short of a neighbour", "qbaaaz", "Qbaaz",
			[]block{{0, 1, 0, 1}, {3, 4, 3, 3}},
			[]block{{0, 1, 0, 1}, {4, 5, 4, 4}},
		},
		{
			"three deletions become one", "xaaaaaay", "xaaay",
			[]block{{1, 2, 1, 1}, {3, 4, 2, 2}, {5, 6, 3, 3}},
			[]block{{4, 7, 4, 4}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := letters(c.base), letters(c.current)
			got, _ := slide(a, b, append([]block{}, c.in...))
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(block{})); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func letters(s string) []string {
	return splitLines(strings.Join(strings.Split(s, ""), "\n") + "\n")
}

// Blocks that all may move far are moved until the limit; the rest stays, and the
// edit is still the same.
func TestSlideIsBounded(t *testing.T) {
	const n = 6000
	a := append([]string{"y\n"}, cycle(2*n, "x")...)
	b := append([]string{"y\n"}, cycle(n, "x")...)
	var in []block
	for i := range n {
		in = append(in, block{1 + 2*i, 2 + 2*i, 1 + i, 1 + i})
	}
	checkBlocks(t, a, b, in)
	out, slides := slide(a, b, in)
	checkBlocks(t, a, b, out)
	if lines := len(a) + len(b); slides < 8*lines || slides > 9*lines {
		t.Errorf("%d slides for %d lines, want the limit of 8 a line to end it", slides, lines)
	}
}
