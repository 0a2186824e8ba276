package oracle

import "fmt"

const unknownContent = "the file's content at that read is not known"

// total is the number of lines that the file has, 0 if not known.
func (rd *reading) total() int {
	switch {
	case rd.whole != nil:
		return rd.whole.total
	case rd.file.part != nil:
		return rd.file.part.total
	}
	return 0
}

// line is line n of the file, if it is known.
func (rd *reading) line(n int) (string, bool) {
	switch {
	case rd.whole != nil:
		return rd.whole.line(n)
	case rd.file.part != nil:
		return rd.file.part.line(n)
	}
	return "", false
}

// claim judges a claim and notes what it confirmed.
func (j *judge) claim(rd *reading, c *claim) {
	state, line, reason := False, 0, ""
	switch {
	case rd.unclear != "":
		reason = "cannot be judged: " + rd.unclear
	case c.kind == Malformed:
		reason = c.bad
	case rd.whole != nil && !rd.whole.valid:
		reason = "the file is no UTF-8 text"
	default:
		if reason = c.fits(rd.asked, rd.total()); reason != "" {
			break
		}
		if c.kind == Diff {
			state, line, reason = j.diff(rd, c)
		} else {
			state, line, reason = rd.lines(c)
		}
	}
	j.verdict(rd, c, state, line, reason)
	if state == Proven && rd.whole != nil && !rd.Error && !rd.file.Failed {
		rd.on.show(showing{c.start, c.end, rd.whole, c.total}, rd.ID)
	}
	if state == False && (c.kind == Diff || c.kind == Malformed || rd.unclear != "") {
		rd.on.forget(fmt.Sprintf("the result of call %s is a claim that cannot be followed", rd.ID))
	}
}

// lines judges "unchanged": each line claimed was seen, and what was seen last is the file.
func (rd *reading) lines(c *claim) (State, int, string) {
	state, why := Proven, ""
	if rd.total() == 0 && (c.total > 0 || rd.file.part == nil) {
		state, why = Unknown, unknownContent
	}
	next := c.start
	for _, v := range rd.on.views {
		if v.to < c.start {
			continue
		}
		if v.from > c.end || v.from > next {
			break
		}
		next = min(v.to, c.end) + 1
		if rd.whole != nil && v.src == rd.whole {
			continue
		}
		for n := max(v.from, c.start); n <= min(v.to, c.end); n++ {
			is, known := rd.line(n)
			was, _ := v.src.line(n)
			if !known {
				if state == Proven {
					state, why = Unknown, fmt.Sprintf("line %d of the file at that read is not known", n)
				}
				continue
			}
			if is != was {
				return False, n, fmt.Sprintf("line %d was last seen as %q (call %s); the file has %q", n, short(was), v.by, short(is))
			}
		}
	}
	if next <= c.end {
		return False, next, rd.on.unseen(next)
	}
	return state, 0, why
}

// unseen says that line n was not seen, and why it does not count if it was.
func (m *memory) unseen(n int) string {
	if m.lost != "" {
		return fmt.Sprintf("line %d is not known: %s", n, m.lost)
	}
	return fmt.Sprintf("line %d was never shown", n)
}

// diff judges a diff. The whole text that it is applied to is what was seen last of each line; or,
// if lines of the new version were seen since, a whole text that the model had before, as long as
// the diff contradicts nothing that was seen: each line was last seen as it is on one of its sides.
func (j *judge) diff(rd *reading, c *claim) (State, int, string) {
	if !c.patch.named(rd.path) {
		return False, 0, fmt.Sprintf("the diff is of %q", short(c.patch.name))
	}
	if c.changed != c.patch.changed {
		return False, 0, fmt.Sprintf("it says that %d lines changed; the diff changes %d", c.changed, c.patch.changed)
	}
	now := rd.whole
	base, ok := rd.on.whole()
	var got *text
	line, reason := 1, "the whole text was never shown"
	if ok {
		got, line, reason = follow(base, c, now)
	} else if n, missing := rd.on.gap(1, max(rd.on.total, c.end)); missing {
		line, reason = n, "the diff needs the whole text: "+rd.on.unseen(n)
	}
	for i, older := range rd.on.versions(now) {
		if got != nil {
			break
		}
		if older == base {
			continue
		}
		next, _, _ := follow(older, c, now)
		if next == nil {
			continue
		}
		n, why := rd.on.contradicts(older, next, i == 0)
		if n == 0 {
			got = next
			break
		}
		if i == 0 {
			line, reason = n, why
		}
	}
	switch {
	case got == nil:
		return False, line, reason
	case now != nil:
		return Proven, 0, ""
	}
	// The diff can be followed; whether to where the file is, nobody knows.
	if !rd.Error && !rd.file.Failed {
		rd.on.show(showing{1, got.total, got, got.total}, rd.ID)
	}
	return Unknown, 0, unknownContent
}

// follow applies the diff to base. It returns the text that comes out, unless that is not the one
// that the file has, or says that it has.
func follow(base *text, c *claim, now *text) (got *text, line int, reason string) {
	out, err := c.patch.apply(base.raw)
	if err != nil {
		return nil, err.line, "the diff does not apply to the last known whole text: " + err.why
	}
	got = wholeText(out)
	if now == nil {
		if got.total != c.total {
			return nil, 0, fmt.Sprintf("it says that the file has %d lines; the diff leads to %d", c.total, got.total)
		}
		return got, 0, ""
	}
	if out == now.raw {
		return got, 0, ""
	}
	for n := 1; ; n++ {
		is, ok := now.line(n)
		was, found := got.line(n)
		if is != was || ok != found {
			return nil, n, fmt.Sprintf("the diff leads to %q as line %d; the file has %q", short(was), n, short(is))
		}
	}
}

// contradicts finds the first line that was last seen as neither side of a diff has it. Unless the
// text before is the whole text that was seen last, it must have been seen as of one of the two.
func (m *memory) contradicts(before, after *text, latest bool) (int, string) {
	for _, v := range m.views {
		if v.src == before || v.src.raw == after.raw {
			continue
		}
		for n := v.from; n <= v.to; n++ {
			was, _ := v.src.line(n)
			a, okA := before.line(n)
			b, okB := after.line(n)
			if !latest || !(okA && a == was || okB && b == was) {
				return n, fmt.Sprintf("line %d was last seen as %q (call %s), which is on neither side of the diff", n, short(was), v.by)
			}
		}
	}
	return 0, ""
}
