package readcache

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deja/trust"
)

// oracle knows what a model can know: the texts that the session delivered, in their order, and
// nothing of trust. It says whether a claim can be resolved from them to the current lines.
//
// That a file ends is knowledge too, so each line past the end of a version that was shown whole
// has the text gone. That some lines came without a notice says nothing of the lines after them: what
// is not there is no text.
type oracle map[string]map[int][]string // by path and line: all that was shown there, the last is freshest

const (
	gone    = "\x00gone"
	unknown = "\x00unknown" // shown, but the oracle cannot tell what
	maxLine = 40            // more than any file of the test
)

// delivery is what one result put into the session. A claim has the version that it is about and
// the one it refers to: a model that has the base can make the other, one that has not cannot.
type delivery struct {
	path    string
	lo, hi  int
	lines   []string // plain: the lines lo..hi, nil for a claim
	ends    bool     // plain: the text is that of the whole file, so it shows where the file ends
	mode    trust.Mode
	current string
	base    string
	text    string
}

func (o oracle) show(path string, line int, text string) {
	if o[path] == nil {
		o[path] = map[int][]string{}
	}
	o[path][line] = append(o[path][line], text)
}

// history is what was shown of a line since it was last unclear what was shown.
func (o oracle) history(path string, line int) []string {
	h := o[path][line]
	for i := len(h) - 1; i >= 0; i-- {
		if h[i] == unknown {
			return h[i+1:]
		}
	}
	return h
}

func (o oracle) last(path string, line int) string {
	if h := o.history(path, line); len(h) > 0 {
		return h[len(h)-1]
	}
	return unknown
}

// apply takes a result in.
func (o oracle) apply(d delivery) {
	if d.lines != nil {
		for i, text := range d.lines {
			o.show(d.path, d.lo+i, text)
		}
		for i := d.hi + 1; d.ends && i <= maxLine; i++ {
			o.show(d.path, i, gone)
		}
		return
	}
	err := o.resolve(d)
	lines := strings.Split(d.current, "\n")
	for i := d.lo; i <= maxLine && (i <= d.hi || d.mode != trust.ModeUnchangedRange); i++ {
		switch {
		case err != nil:
			o.show(d.path, i, unknown)
		case i <= len(lines):
			o.show(d.path, i, lines[i-1])
		default:
			o.show(d.path, i, gone)
		}
	}
}

// resolve says why a claim does not lead to the current lines, or nil. How many lines there are is in
// the text of the claim, so an older and longer version in view does no harm.
func (o oracle) resolve(d delivery) error {
	current := strings.Split(d.current, "\n")
	if d.mode == trust.ModeDiff {
		return o.resolveDiff(d, current)
	}
	for i := d.lo; i <= d.hi; i++ {
		if got := o.last(d.path, i); got != current[i-1] {
			return fmt.Errorf("line %d is %q; last shown was %q", i, current[i-1], got)
		}
	}
	return nil
}

// resolveDiff needs every line of the base somewhere in what was shown, and nothing fresher than
// it that is not true now. Applied to the base the diff must give the current text.
func (o oracle) resolveDiff(d delivery, current []string) error {
	base := strings.Split(d.base, "\n")
	for i, text := range base {
		if !slices.Contains(o.history(d.path, i+1), text) {
			return fmt.Errorf("line %d of the base, %q, was never shown", i+1, text)
		}
		last := o.last(d.path, i+1)
		if last != text && (i >= len(current) && last != gone || i < len(current) && last != current[i]) {
			return fmt.Errorf("line %d was last shown as %q, which is neither of the base nor current", i+1, last)
		}
	}
	_, unified, _ := strings.Cut(d.text, "\n")
	got, err := patch(d.base, unified)
	if err != nil {
		return err
	}
	if got != d.current {
		return fmt.Errorf("the diff gives %q, the file is %q", got, d.current)
	}
	return nil
}

// patch applies a unified diff, trusting its line numbers and checking its context.
func patch(base, unified string) (string, error) {
	old := strings.SplitAfter(base, "\n")
	if old[len(old)-1] == "" {
		old = old[:len(old)-1]
	}
	lines := strings.SplitAfter(unified, "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "--- a/") || !strings.HasPrefix(lines[1], "+++ b/") {
		return "", fmt.Errorf("no headers in %q", unified)
	}
	var out strings.Builder
	at := 0
	for i := 2; i < len(lines); i++ {
		line := lines[i]
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\`) {
			line = strings.TrimSuffix(line, "\n")
		}
		switch {
		case line == "" || line[0] == '\\':
		case line[0] == '@':
			start, count, _ := strings.Cut(strings.Fields(line)[1][1:], ",")
			from, err := strconv.Atoi(start)
			if count != "0" {
				from--
			}
			if err != nil || from < at || from > len(old) {
				return "", fmt.Errorf("bad hunk %q", line)
			}
			out.WriteString(strings.Join(old[at:from], ""))
			at = from
		case line[0] == '+':
			out.WriteString(line[1:])
		case at == len(old) || old[at] != line[1:]:
			return "", fmt.Errorf("%q is not line %d of the base", line, at+1)
		default:
			if at++; line[0] == ' ' {
				out.WriteString(line[1:])
			}
		}
	}
	return out.String() + strings.Join(old[at:], ""), nil
}
