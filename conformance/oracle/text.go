package oracle

import (
	"strings"
	"unicode/utf8"
)

// A text is a run of lines of a file as it was at one time: the whole file, or a piece.
type text struct {
	raw   string
	first int   // the number of its first line
	start []int // where each line starts in raw, and len(raw)+1 at the end
	total int   // the lines of the file at that time; 0 if not known
	valid bool  // UTF-8; what is not cannot be shown
}

// newText splits raw into lines as pi does: at "\n", so that a final newline makes a last empty
// line (spec 2.7).
func newText(raw string, first, total int) *text {
	t := &text{raw: raw, first: first, total: total, valid: utf8.ValidString(raw)}
	t.start = make([]int, 1, strings.Count(raw, "\n")+2)
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\n' {
			t.start = append(t.start, i+1)
		}
	}
	t.start = append(t.start, len(raw)+1)
	return t
}

func wholeText(raw string) *text {
	t := newText(raw, 1, 0)
	t.total = t.last()
	return t
}

func (t *text) last() int { return t.first + len(t.start) - 2 }

// line is the text of line n without its newline, if the text has it.
func (t *text) line(n int) (string, bool) {
	if n < t.first || n > t.last() {
		return "", false
	}
	return t.raw[t.start[n-t.first] : t.start[n-t.first+1]-1], true
}

// slice is the lines a to b, which the text has.
func (t *text) slice(a, b int) string {
	return t.raw[t.start[a-t.first] : t.start[b-t.first+1]-1]
}

// cutLine is strings.Cut at the first newline.
func cutLine(s string) (line, rest string, found bool) { return strings.Cut(s, "\n") }

// short is s, or its beginning, for use in a sentence.
func short(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
