package oracle

import (
	"slices"
	"strings"
)

// A memory is what the model can know of one file from the messages so far.
type memory struct {
	views []view // what was seen last of each line; in order, without overlap
	total int    // the number of lines the model was last told; 0 if never
	lost  string // why nothing that came before counts any more; "" if that never happened
	texts map[*text]*cover
	clock int
}

// A view is a run of lines as they were last seen.
type view struct {
	from, to int
	src      *text  // holds these lines
	by       string // the call that showed or confirmed them
}

// A cover is how much of one version of the file was seen, at whatever time.
type cover struct {
	runs    [][2]int // in order, neither overlapping nor touching
	wholeAt int      // when it was last seen to the end, on the memory's clock; 0 if never
}

// learn notes that call by showed the lines from to to of src, or confirmed them.
func (m *memory) learn(src *text, from, to int, by string) {
	if from > to {
		return
	}
	m.clock++
	m.views = splice(m.views, view{from, to, src, by})
	if src.total == 0 {
		return
	}
	if m.texts == nil {
		m.texts = map[*text]*cover{}
	}
	c := m.texts[src]
	if c == nil {
		c = &cover{}
		m.texts[src] = c
	}
	c.add(from, to)
	if len(c.runs) == 1 && c.runs[0][0] == 1 && c.runs[0][1] >= src.total {
		c.wholeAt = m.clock
	}
}

// tell notes that the model was told the number of lines.
func (m *memory) tell(total int) {
	if total > 0 {
		m.total = total
	}
}

// end drops what was seen beyond the last line of a file that was shown as a whole.
func (m *memory) end(total int) {
	m.views = slices.DeleteFunc(m.views, func(v view) bool { return v.from > total })
	if n := len(m.views); n > 0 {
		m.views[n-1].to = min(m.views[n-1].to, total)
	}
	m.total = total
}

// forget drops all that is known, for a reason that is given to every later claim that needs it.
func (m *memory) forget(why string) { *m = memory{lost: why, clock: m.clock} }

// splice puts v over the views that it covers.
func splice(views []view, v view) []view {
	if n := len(views); n == 0 || views[n-1].to < v.from {
		return append(views, v)
	}
	out := make([]view, 0, len(views)+2)
	i := 0
	for ; i < len(views) && views[i].from < v.from; i++ {
		old := views[i]
		old.to = min(old.to, v.from-1)
		out = append(out, old)
	}
	// The last one may reach beyond v; and so may those that start within.
	if i > 0 && views[i-1].to > v.to {
		rest := views[i-1]
		rest.from = v.to + 1
		return append(append(append(out, v), rest), views[i:]...)
	}
	out = append(out, v)
	for ; i < len(views); i++ {
		old := views[i]
		if old.to <= v.to {
			continue
		}
		old.from = max(old.from, v.to+1)
		out = append(out, old)
	}
	return out
}

func (c *cover) add(from, to int) {
	var out [][2]int
	for _, r := range c.runs {
		if r[1] < from-1 || r[0] > to+1 {
			out = append(out, r)
			continue
		}
		from, to = min(from, r[0]), max(to, r[1])
	}
	out = append(out, [2]int{from, to})
	slices.SortFunc(out, func(a, b [2]int) int { return a[0] - b[0] })
	c.runs = out
}

// gap is the first of the lines a to b that was never seen.
func (m *memory) gap(a, b int) (line int, found bool) {
	for _, v := range m.views {
		if v.to < a {
			continue
		}
		if v.from > a || a > b {
			break
		}
		a = v.to + 1
	}
	return a, a <= b
}

func (m *memory) line(n int) (string, bool) {
	i, found := slices.BinarySearchFunc(m.views, n, func(v view, n int) int {
		switch {
		case v.to < n:
			return -1
		case v.from > n:
			return 1
		}
		return 0
	})
	if !found {
		return "", false
	}
	return m.views[i].src.line(n)
}

// whole puts the last views of all lines together, if there is one of each line that the model was
// told of. If they are all of one text and all of it, it is that one.
func (m *memory) whole() (*text, bool) {
	if m.total == 0 {
		return nil, false
	}
	if _, missing := m.gap(1, m.total); missing {
		return nil, false
	}
	if v := m.views[0]; v.src.total == m.total && v.src.first == 1 && v.src.last() == m.total && v.to >= m.total {
		return v.src, true
	}
	var b strings.Builder
	for _, v := range m.views {
		if v.from > m.total {
			break
		}
		if v.from > 1 {
			b.WriteByte('\n')
		}
		b.WriteString(v.src.slice(v.from, min(v.to, m.total)))
	}
	return wholeText(b.String()), true
}

// versions are the texts other than not that the model has seen as a whole, the latest first.
func (m *memory) versions(not *text) []*text {
	var out []*text
	for t, c := range m.texts {
		if c.wholeAt > 0 && t.first == 1 && t.last() == t.total && (not == nil || t.raw != not.raw) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *text) int { return m.texts[b].wholeAt - m.texts[a].wholeAt })
	return out
}

// clone is a copy that later changes to m do not reach. Texts never change.
func (m *memory) clone() *memory {
	return &memory{views: slices.Clone(m.views), total: m.total, lost: m.lost}
}
