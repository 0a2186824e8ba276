package linediff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Apply returns the version that the diff turns base into. It takes what [Unified]
// writes and nothing looser: the headers must be there, every context and removed
// line must be in base at the stated place, every count and position must be
// right on both sides, the hunks must be in order and change something, and a line
// without '\n' must be the last of its version. Anything else is an error.
//
// An empty diff returns a copy of base. Apply takes linear time, its result is at
// most len(base)+len(diff) bytes, and it does not keep or change base.
func Apply(base []byte, diff string) ([]byte, error) {
	if diff == "" {
		return append([]byte{}, base...), nil
	}
	p := patcher{diff: diff, base: splitLines(string(base))}
	p.out = make([]byte, 0, len(base)+len(diff))
	if err := p.header(); err != nil {
		return nil, err
	}
	for first := true; first || p.diff != ""; first = false {
		if err := p.hunk(); err != nil {
			return nil, fmt.Errorf("diff line %d: %w", p.lineNo, err)
		}
	}
	if err := p.copyTo(len(p.base)); err != nil {
		return nil, err
	}
	return p.out, nil
}

// A patcher reads a diff from front to back while it copies the base.
type patcher struct {
	diff   string   // what is left to read
	lineNo int      // number of the diff line read last, from 1
	base   []string // the lines of the base
	at     int      // base lines used so far
	out    []byte   // the new version so far
	lines  int      // lines in out
}

var (
	errCut     = errors.New("diff ends too early")
	errHeader  = errors.New("malformed file header")
	errHunk    = errors.New("malformed hunk header")
	errMark    = errors.New("line starts with none of ' ', '-', '+'")
	errCount   = errors.New("hunk does not have the lines its header says")
	errIdle    = errors.New("hunk changes nothing")
	errPlace   = errors.New("hunk position does not fit")
	errBase    = errors.New("line is not in the base here")
	errNewline = errors.New("line after a last line without newline")
)

// next reads one line of the diff, without its '\n'.
func (p *patcher) next() (string, error) {
	p.lineNo++
	line, rest, ok := strings.Cut(p.diff, "\n")
	if !ok {
		return "", errCut
	}
	p.diff = rest
	return line, nil
}

// header reads the two lines that name the file. Apply has no use for the name,
// but both must give the same one.
func (p *patcher) header() error {
	var names [2]string
	for i, prefix := range []string{oldHeader, newHeader} {
		line, err := p.next()
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(line, prefix)
		if !ok {
			return errHeader
		}
		names[i] = name
	}
	if names[0] != names[1] {
		return errHeader
	}
	return nil
}

// hunk reads and applies one hunk.
func (p *patcher) hunk() error {
	line, err := p.next()
	if err != nil {
		return err
	}
	from, removed, to, added, err := parseHunk(line)
	if err != nil {
		return err
	}
	if from < p.at || from > len(p.base) {
		return errPlace
	}
	if err := p.copyTo(from); err != nil {
		return err
	}
	if to != p.lines {
		return errPlace
	}
	idle := true
	for removed > 0 || added > 0 {
		mark, content, err := p.line()
		if err != nil {
			return err
		}
		if mark != '+' {
			if removed--; removed < 0 {
				return errCount
			}
			if p.at == len(p.base) || p.base[p.at] != content {
				return errBase
			}
			p.at++
		}
		if mark != '-' {
			if added--; added < 0 {
				return errCount
			}
			if err := p.emit(content); err != nil {
				return err
			}
		}
		idle = idle && mark == ' '
	}
	if idle {
		return errIdle
	}
	return nil
}

// line reads one line of a hunk with the marker that may follow it. The content
// ends in '\n' unless the marker says otherwise.
func (p *patcher) line() (mark byte, content string, err error) {
	text := p.diff
	line, err := p.next()
	if err != nil {
		return 0, "", err
	}
	if line == "" || strings.IndexByte(" -+", line[0]) < 0 {
		return 0, "", errMark
	}
	if rest, ok := strings.CutPrefix(p.diff, noNewline); ok {
		p.diff = rest
		p.lineNo++
		if len(line) == 1 {
			return 0, "", errMark // a line without even a '\n' is no line
		}
		return line[0], line[1:], nil
	}
	return line[0], text[1 : len(line)+1], nil
}

// copyTo copies unchanged lines up to line number to of the base.
func (p *patcher) copyTo(to int) error {
	for ; p.at < to; p.at++ {
		if err := p.emit(p.base[p.at]); err != nil {
			return err
		}
	}
	return nil
}

func (p *patcher) emit(line string) error {
	if n := len(p.out); n > 0 && p.out[n-1] != '\n' {
		return errNewline
	}
	p.out = append(p.out, line...)
	p.lines++
	return nil
}

// parseHunk reads "@@ -l,s +l,s @@" and returns both spans as an offset from 0 and
// a count.
func parseHunk(line string) (from, removed, to, added int, err error) {
	body, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return 0, 0, 0, 0, errHunk
	}
	body, ok = strings.CutSuffix(body, " @@")
	if !ok {
		return 0, 0, 0, 0, errHunk
	}
	left, right, ok := strings.Cut(body, " +")
	if !ok {
		return 0, 0, 0, 0, errHunk
	}
	from, removed, okLeft := parseSpan(left)
	to, added, okRight := parseSpan(right)
	if !okLeft || !okRight {
		return 0, 0, 0, 0, errHunk
	}
	return from, removed, to, added, nil
}

// parseSpan is the inverse of span: it takes exactly what span writes.
func parseSpan(s string) (from, count int, ok bool) {
	first, size, _ := strings.Cut(s, ",")
	from, err1 := strconv.Atoi(first)
	count, err2 := strconv.Atoi(size)
	if err1 != nil || err2 != nil || from < 0 || count < 0 {
		return 0, 0, false
	}
	if count > 0 {
		from--
	}
	if from < 0 || from > maxSpan || count > maxSpan || span(from, from+count) != s {
		return 0, 0, false
	}
	return from, count, true
}

// maxSpan keeps sums of two spans inside an int, also where that has 32 bits.
const maxSpan = 1 << 29
