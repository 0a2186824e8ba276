package oracle

import (
	"encoding/json"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// A span is the lines that a read asks for, 1-based.
type span struct {
	start int
	limit int // how many; less than 0 for all that follow
}

// last is the last line asked for of a file with total lines (0: not known).
func (s span) last(total int) (int, bool) {
	switch {
	case s.limit < 0:
		return total, total > 0
	case total > 0:
		return min(s.start+s.limit-1, total), true
	}
	return 0, false // the file may be shorter
}

var suffixForm = regexp.MustCompile(`(?s)^(.+):(\d{1,9})(?:-(\d{1,9}))?$`)

// target is what the call asks for: the path without a range suffix, and the lines (spec 2.4). A
// suffix is part of the name if that is what was opened; where opened is "", it is a range.
func (c *Call) target(opened string) (string, span) {
	s := span{1, -1}
	if c.Offset != nil {
		s.start = max(*c.Offset, 1) // as pi does
	}
	if c.Limit != nil {
		s.limit = *c.Limit
	}
	if c.Offset != nil || c.Limit != nil || opened != "" && path.Base(opened) == path.Base(c.Path) {
		return c.Path, s
	}
	m := suffixForm.FindStringSubmatch(c.Path)
	if m == nil {
		return c.Path, s
	}
	a, _ := strconv.Atoi(m[2])
	b := a
	if m[3] != "" {
		b, _ = strconv.Atoi(m[3])
	}
	if a < 1 || b < a {
		return c.Path, s
	}
	return m[1], span{a, b - a + 1}
}

// lexical is the key of a path whose file is not known.
func lexical(dir, name string) string {
	name = strings.TrimPrefix(name, "@")
	if dir != "" && !path.IsAbs(name) && !strings.HasPrefix(name, "~") {
		name = dir + "/" + name
	}
	return path.Clean(name)
}

// newCall makes a Call out of a call's JSON arguments.
func newCall(id, tool string, args []byte) *Call {
	c := &Call{ID: id, Tool: tool}
	var in struct {
		Path   any `json:"path"`
		Offset any `json:"offset"`
		Limit  any `json:"limit"`
	}
	if json.Unmarshal(args, &in) != nil {
		c.Odd = true
		return c
	}
	name, ok := in.Path.(string)
	c.Path = name
	c.Odd = !ok || name == ""
	for _, a := range []struct {
		in  any
		out **int
	}{{in.Offset, &c.Offset}, {in.Limit, &c.Limit}} {
		n, present, ok := whole(a.in)
		if !ok {
			c.Odd = true
		} else if present {
			*a.out = &n
		}
	}
	if c.Limit != nil && *c.Limit < 0 {
		c.Odd = true
	}
	return c
}

// whole reads a line number as pi's schema does, which makes numbers of texts.
func whole(v any) (n int, present, ok bool) {
	var f float64
	switch v := v.(type) {
	case nil:
		return 0, false, true
	case float64:
		f = v
	case string:
		var err error
		if f, err = strconv.ParseFloat(v, 64); err != nil {
			return 0, true, false
		}
	default:
		return 0, true, false
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<40 {
		return 0, true, false
	}
	return int(f), true, true
}
