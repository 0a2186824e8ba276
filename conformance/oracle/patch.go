package oracle

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A patch is a unified diff of one file, taken apart.
type patch struct {
	name  string // what stands behind "a/" and "b/"
	hunks []hunk
	// changed counts the changed lines as spec 7.3 does: the larger of removed and added lines,
	// summed over the places of change.
	changed int
}

type hunk struct {
	oldAt, newAt int // 0-based
	old, new     []string
}

// noNewline follows a line that is the last of its side and has no newline.
const noNewline = "\\ No newline at end of file\n"

var hunkHead = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@$`)

// parsePatch reads a whole unified diff; anything that does not belong there is an error.
func parsePatch(diff string) (*patch, error) {
	p := &patch{}
	a, rest, ok1 := cutLine(diff)
	b, rest, ok2 := cutLine(rest)
	if !ok1 || !ok2 || !strings.HasPrefix(a, "--- a/") || b != "+++ b/"+a[len("--- a/"):] {
		return nil, fmt.Errorf("the diff has no headers")
	}
	p.name = a[len("--- a/"):]
	if rest == "" || !strings.HasSuffix(rest, "\n") {
		return nil, fmt.Errorf("the diff is cut off")
	}
	lines := strings.SplitAfter(rest, "\n")
	lines = lines[:len(lines)-1]
	for len(lines) > 0 {
		n, err := p.hunk(lines)
		if err != nil {
			return nil, err
		}
		lines = lines[n:]
	}
	return p, nil
}

// hunk reads the hunk that lines begin with and returns how many of them it takes.
func (p *patch) hunk(lines []string) (int, error) {
	m := hunkHead.FindStringSubmatch(strings.TrimSuffix(lines[0], "\n"))
	if m == nil {
		return 0, fmt.Errorf("the diff has a line %q where a hunk should begin", short(lines[0]))
	}
	var h hunk
	oldN, newN := 0, 0
	h.oldAt, oldN = start(m[1], m[2])
	h.newAt, newN = start(m[3], m[4])
	removed, added := 0, 0
	place := func() { p.changed += max(removed, added); removed, added = 0, 0 }
	i := 1
	for ; len(h.old) < oldN || len(h.new) < newN; i++ {
		if i == len(lines) {
			return 0, fmt.Errorf("the hunk %q ends early", short(lines[0]))
		}
		line := lines[i][1:]
		if i+1 < len(lines) && lines[i+1] == noNewline {
			line = strings.TrimSuffix(line, "\n")
		}
		switch lines[i][0] {
		case ' ':
			place()
			h.old, h.new = append(h.old, line), append(h.new, line)
		case '-':
			removed++
			h.old = append(h.old, line)
		case '+':
			added++
			h.new = append(h.new, line)
		case '\\':
			if lines[i] != noNewline || i == 1 {
				return 0, fmt.Errorf("the diff has a line %q", short(lines[i]))
			}
		default:
			return 0, fmt.Errorf("the diff has a line %q", short(lines[i]))
		}
	}
	place()
	if i < len(lines) && lines[i] == noNewline {
		i++
	}
	if len(h.old) != oldN || len(h.new) != newN || h.oldAt < 0 || h.newAt < 0 {
		return 0, fmt.Errorf("the hunk %q has other counts than it says", short(lines[0]))
	}
	p.hunks = append(p.hunks, h)
	return i, nil
}

// start reads "first,count" of a hunk's head. The first of no lines is by convention the one before.
func start(first, count string) (at, n int) {
	at, _ = strconv.Atoi(first)
	n = 1
	if count != "" {
		n, _ = strconv.Atoi(count)
	}
	if n > 0 {
		at--
	}
	return at, n
}

// reverse is the patch that undoes p.
func (p *patch) reverse() *patch {
	r := &patch{name: p.name, changed: p.changed}
	for _, h := range p.hunks {
		r.hunks = append(r.hunks, hunk{h.newAt, h.oldAt, h.new, h.old})
	}
	return r
}

// A patchError says at which line of the old text (1-based) a patch does not apply.
type patchError struct {
	line int
	why  string
}

// apply applies the patch to base, exactly: every context line must be there, at its number.
func (p *patch) apply(base string) (string, *patchError) {
	old := strings.SplitAfter(base, "\n")
	if old[len(old)-1] == "" {
		old = old[:len(old)-1]
	}
	var out strings.Builder
	at, written := 0, 0 // lines of old consumed, lines of new written
	open := false       // the last line written has no newline, so that it must be the last
	write := func(line string) bool {
		if open {
			return false
		}
		out.WriteString(line)
		open = !strings.HasSuffix(line, "\n")
		written++
		return true
	}
	ok := true
	for _, h := range p.hunks {
		if h.oldAt < at || h.oldAt > len(old) {
			return "", &patchError{h.oldAt + 1, "a hunk is out of place"}
		}
		for ; at < h.oldAt; at++ {
			ok = write(old[at]) && ok
		}
		if written != h.newAt {
			return "", &patchError{at + 1, "a hunk names another place of the new text"}
		}
		for _, line := range h.old {
			if at >= len(old) {
				return "", &patchError{at + 1, fmt.Sprintf("it goes on with %q after the last line", short(line))}
			}
			if old[at] != line {
				return "", &patchError{at + 1, fmt.Sprintf("it takes line %d to be %q", at+1, short(line))}
			}
			at++
		}
		for _, line := range h.new {
			ok = write(line) && ok
		}
	}
	for ; at < len(old); at++ {
		ok = write(old[at]) && ok
	}
	if !ok {
		return "", &patchError{len(old), "it leaves a line without a newline in the middle"}
	}
	return out.String(), nil
}
