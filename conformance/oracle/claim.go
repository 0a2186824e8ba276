package oracle

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// A claim is a claim's text, taken apart (spec 7).
type claim struct {
	kind       Kind
	start, end int // the lines it stands for
	total      int // the number of lines it tells; 0 if it does not
	// more and next are those of pi's notice if the claim ends where pi's limits do (spec 7.2);
	// next is 0 if there is none.
	more, next int
	changed    int // of a diff: how many lines it says have changed
	patch      *patch
	bad        string // why a malformed one is none
}

const number = `([1-9]\d{0,8})`

var (
	wholeForm     = regexp.MustCompile(`^\[readcache: unchanged, ` + number + ` lines\]$`)
	linesForm     = regexp.MustCompile(`^\[readcache: unchanged in lines ` + number + `-` + number + ` of ` + number + `\]$`)
	elsewhereForm = regexp.MustCompile(`^\[readcache: unchanged in lines ` + number + `-` + number + `; changes exist outside this range\]$`)
	diffForm      = regexp.MustCompile(`^\[readcache: ` + number + ` lines changed of ` + number + `\]$`)
	moreForm      = regexp.MustCompile(`^\[` + number + ` more lines in file\. Use offset=` + number + ` to continue\.\]$`)
	likeAClaim    = regexp.MustCompile(`^\[readcache: (unchanged|\d+ lines changed)`)
)

// parseClaim takes apart what has, or begins like, one of the forms of spec 7.
func parseClaim(s string) (*claim, bool) {
	if !strings.HasPrefix(s, "[readcache: ") || !likeAClaim.MatchString(s) {
		return nil, false
	}
	head, rest, more := cutLine(s)
	c := &claim{}
	if m := numbers(diffForm, head); m != nil {
		c.kind, c.start, c.changed, c.total = Diff, 1, m[0], m[1]
		c.end = c.total
		p, err := parsePatch(rest)
		if err != nil {
			return &claim{kind: Malformed, bad: err.Error()}, true
		}
		c.patch = p
		return c, true
	}
	if m := numbers(wholeForm, head); m != nil {
		c.kind, c.start, c.end, c.total = Unchanged, 1, m[0], m[0]
	} else if m := numbers(linesForm, head); m != nil && m[0] <= m[1] && m[1] <= m[2] {
		c.kind, c.start, c.end, c.total = UnchangedLines, m[0], m[1], m[2]
	} else if m := numbers(elsewhereForm, head); m != nil && m[0] <= m[1] {
		c.kind, c.start, c.end = Elsewhere, m[0], m[1]
	} else {
		return &claim{kind: Malformed, bad: "it has none of the exact forms of a claim"}, true
	}
	if more {
		m := numbers(moreForm, strings.TrimPrefix(rest, "\n"))
		if m == nil || c.kind == Unchanged || !strings.HasPrefix(rest, "\n") {
			return &claim{kind: Malformed, bad: "something follows the claim"}, true
		}
		c.more, c.next = m[0], m[1]
	}
	return c, true
}

// numbers are the groups of form in s, which are all numbers; nil if s does not have the form.
func numbers(form *regexp.Regexp, s string) []int {
	m := form.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	out := make([]int, len(m)-1)
	for i, digits := range m[1:] {
		out[i], _ = strconv.Atoi(digits)
	}
	return out
}

// fits says why the claim is no answer to what was asked for, "" if it is one. total is the number
// of lines of the file, 0 if not known.
func (c *claim) fits(asked span, total int) string {
	if c.total > 0 && total > 0 && c.total != total {
		return fmt.Sprintf("it says that the file has %d lines; it has %d", c.total, total)
	}
	if total == 0 {
		total = c.total
	}
	if total > 0 && c.end > total {
		return fmt.Sprintf("the file has only %d lines", total)
	}
	if c.kind != UnchangedLines && c.kind != Elsewhere {
		return ""
	}
	if c.start != asked.start {
		return fmt.Sprintf("it is for lines from %d on; asked for were lines from %d on", c.start, asked.start)
	}
	last, known := asked.last(total)
	switch {
	case c.next == 0 && known && c.end != last:
		return fmt.Sprintf("it ends with line %d without saying so; asked for were lines to %d", c.end, last)
	case c.next != 0 && known && c.end >= last:
		return "it says that lines are left, and all that were asked for are claimed"
	case c.next != 0 && (c.next != c.end+1 || total > 0 && c.more != total-c.end):
		return "its notice on how to continue has wrong numbers"
	}
	return ""
}

// named reports whether the diff's headers name the file that was asked for.
func (p *patch) named(asked string) bool {
	clean := func(s string) string {
		return path.Base(strings.Map(func(r rune) rune {
			if unicode.IsGraphic(r) {
				return r
			}
			return unicode.ReplacementChar
		}, s))
	}
	return clean(p.name) == clean(asked)
}
