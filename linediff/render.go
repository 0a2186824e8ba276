package linediff

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// contextLines is the number of unchanged lines shown on each side of a change.
	contextLines = 3

	// noNewline follows a line that is the last of its version and lacks its '\n'.
	// No line of a hunk can be mistaken for it: those start with ' ', '-' or '+'.
	noNewline = "\\ No newline at end of file\n"

	oldHeader = "--- a/"
	newHeader = "+++ b/"
)

// render writes the blocks as a unified diff.
func render(name string, a, b []string, blocks []block) Diff {
	if len(blocks) == 0 {
		return Diff{}
	}
	d := Diff{}
	out := &strings.Builder{}
	shown := printable(name)
	out.WriteString(oldHeader + shown + "\n" + newHeader + shown + "\n")
	for len(blocks) > 0 {
		n := 1
		for n < len(blocks) && blocks[n].a0-blocks[n-1].a1 <= 2*contextLines {
			n++
		}
		writeHunk(out, a, b, blocks[:n])
		for _, k := range blocks[:n] {
			d.Changed += k.changed()
		}
		blocks = blocks[n:]
	}
	d.Text = out.String()
	d.Lines = strings.Count(d.Text, "\n")
	return d
}

// writeHunk writes one hunk that holds all the blocks.
func writeHunk(out *strings.Builder, a, b []string, blocks []block) {
	first, last := blocks[0], blocks[len(blocks)-1]
	before := min(contextLines, first.a0)
	after := min(contextLines, len(a)-last.a1)
	a0, a1 := first.a0-before, last.a1+after
	b0, b1 := first.b0-before, last.b1+after

	out.WriteString("@@ -" + span(a0, a1) + " +" + span(b0, b1) + " @@\n")
	at := a0
	for _, k := range blocks {
		writeLines(out, ' ', a[at:k.a0])
		writeLines(out, '-', a[k.a0:k.a1])
		writeLines(out, '+', b[k.b0:k.b1])
		at = k.a1
	}
	writeLines(out, ' ', a[at:a1])
}

// span writes lines [from,to) as "first,count". The first line of an empty span is
// by convention the one before it, so that an empty file is "0,0".
func span(from, to int) string {
	first := from
	if to > from {
		first++
	}
	return strconv.Itoa(first) + "," + strconv.Itoa(to-from)
}

func writeLines(out *strings.Builder, mark byte, lines []string) {
	for _, line := range lines {
		out.WriteByte(mark)
		out.WriteString(line)
		if line[len(line)-1] != '\n' {
			out.WriteString("\n" + noNewline)
		}
	}
}

// printable returns name with every character that could end, hide or reorder a
// header line replaced by U+FFFD.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return utf8.RuneError
	}, name)
}
