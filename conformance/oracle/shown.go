package oracle

import (
	"regexp"
	"strings"
)

// What a plain read of pi shows: lines of the file, and perhaps a notice behind them.

var (
	showingForm = regexp.MustCompile(`^\[Showing lines ` + number + `-` + number + ` of ` + number + `(?: \([^()\n]{1,20} limit\))?\. Use offset=` + number + ` to continue\.\]$`)
	tooLongForm = regexp.MustCompile(`(?s)^\[Line ` + number + ` is [^,\n]{1,20}, exceeds [^,\n]{1,20} limit\. Use bash: .*\]$`)

	// errorForm matches the errors of pi's read and of its agent loop; an OpenAI body does not
	// mark them. File.Failed tells of others.
	errorForm = regexp.MustCompile(`^(Offset \S+ is beyond end of file \(\d+ lines total\)$|E[A-Z0-9]{2,}: |Operation aborted|No result provided$|` +
		`Validation failed for tool |Tool \S+ not found|Invalid line range |Tool execution was blocked)`)
)

// A showing is what a text shows of a file. With to < from it shows no line.
type showing struct {
	from, to int
	src      *text // holds the lines; nil if there are none
	total    int   // the number of lines of the file that it tells, 0 if none
}

// show notes what was shown.
func (m *memory) show(sh showing, by string) {
	if sh.src != nil {
		m.learn(sh.src, sh.from, sh.to, by)
	}
	m.tell(sh.total)
	if sh.src != nil && sh.from == 1 && sh.to == sh.total {
		m.end(sh.total)
	}
}

// empty are the texts that pi sends instead of an empty one (openai-completions of both lines).
func empty(s string) bool { return s == "(no tool output)" || s == "(see attached image)" }

// shows reads s as the plain read of the lines asked for of a file with the content whole, and
// reports whether it is one. Where pi's limits cut it is pi's business; that s says so is not.
func shows(s string, asked span, whole *text) (showing, bool) {
	if sh, ok := piece(s, asked, whole); ok {
		return sh, true
	}
	if empty(s) {
		return piece("", asked, whole)
	}
	return showing{}, false
}

func piece(s string, asked span, whole *text) (showing, bool) {
	if !whole.valid || asked.start > whole.total {
		return showing{}, false
	}
	last, _ := asked.last(whole.total)
	same := func(s string, to int) bool { return to <= last && whole.slice(asked.start, to) == s }
	to := asked.start + strings.Count(s, "\n")
	if to == whole.total && same(s, to) {
		return showing{asked.start, to, whole, whole.total}, true
	}
	n := readNotice(s, asked)
	switch {
	case n.tooLong:
		return showing{from: 1}, true
	case !n.ok || n.total > 0 && n.total != whole.total || n.left > 0 && n.left != whole.total-n.to:
		return showing{}, false
	case n.to < asked.start:
		return showing{from: 1, total: whole.total}, true
	case n.left > 0 && n.to != last || !same(n.lines, n.to):
		return showing{}, false
	}
	return showing{asked.start, n.to, whole, whole.total}, true
}

// guess reads s as a plain read of a file of which known is known. It is checked against that and
// against itself, and otherwise believed.
func guess(s string, asked span, known *memory) (showing, bool) {
	n := readNotice(s, asked)
	switch {
	case n.tooLong:
		return showing{from: 1}, true
	case n.found && !n.ok, empty(s):
		return showing{}, false
	case !n.found:
		n.lines, n.to = s, asked.start+strings.Count(s, "\n")
		n.total = n.to
		if asked.limit >= 0 && n.to > asked.start+asked.limit-1 {
			return showing{}, false
		}
	case n.left > 0:
		n.total = n.to + n.left
	}
	if n.to < asked.start {
		return showing{from: 1, total: n.total}, true
	}
	src := newText(n.lines, asked.start, n.total)
	for i := asked.start; known != nil && i <= n.to; i++ {
		if line, ok := known.line(i); ok {
			if shown, _ := src.line(i); shown != line {
				return showing{}, false
			}
		}
	}
	return showing{asked.start, n.to, src, n.total}, src.valid
}

// A notice is a text with one of pi's notices, taken apart.
type notice struct {
	found   bool
	ok      bool   // its numbers agree with each other and with the text
	tooLong bool   // the first line is over the limit: no line is shown
	lines   string // the text before it
	to      int    // the last line shown
	left    int    // how many lines follow, if it says that
	total   int    // how many lines the file has, if it says that
}

func readNotice(s string, asked span) notice {
	if strings.HasPrefix(s, "[Line ") {
		if m := numbers(tooLongForm, s); m != nil {
			return notice{found: true, ok: m[0] == asked.start, tooLong: m[0] == asked.start}
		}
	}
	at := strings.LastIndex(s, "\n\n[")
	if at < 0 {
		return notice{}
	}
	lines, tail := s[:at], s[at+2:]
	to := asked.start + strings.Count(lines, "\n")
	if m := numbers(showingForm, tail); m != nil {
		return notice{
			found: true, lines: lines, to: to, total: m[2],
			ok: m[0] == asked.start && m[1] == to && m[3] == to+1 && m[2] > to,
		}
	}
	m := numbers(moreForm, tail)
	if m == nil {
		return notice{}
	}
	if lines == "" && asked.limit == 0 {
		to = asked.start - 1
	}
	return notice{found: true, lines: lines, to: to, left: m[0], ok: m[1] == to+1 && asked.limit >= 0 && to == asked.start+asked.limit-1}
}
