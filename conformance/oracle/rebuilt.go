package oracle

import (
	"encoding/json"
	"io"
	"strings"
)

// Rebuilt makes a Contents out of a session file alone, for sessions whose files are gone: what the
// reads delivered and the tools write and edit stored, in the order of the file and over all
// branches (the disk has only one), is taken for the files at that time. Where two texts do not fit
// together the rest of the file is not known from there on.
//
// It cannot see a change from outside that no read showed: by these contents "proven" means that
// the model has the text which the session shows last, "false" that it does not have even that.
func Rebuilt(jsonl io.Reader) (Contents, error) {
	f, err := readSession(jsonl)
	if err != nil {
		return nil, err
	}
	t := &timeline{dir: f.dir, disk: map[string]*memory{}, calls: map[string]rawCall{}, files: map[string]File{}, twice: map[string]bool{}}
	seen := map[string]bool{}
	for _, e := range f.entries {
		if e.Type != "message" || seen[e.ID] && e.ID != "" {
			continue
		}
		seen[e.ID] = true
		t.message(e.Message)
	}
	return func(callID, _ string) (File, bool) {
		file, ok := t.files[callID]
		return file, ok && !t.twice[callID]
	}, nil
}

// A timeline is the disk as a session shows it, so far.
type timeline struct {
	dir   string
	disk  map[string]*memory
	calls map[string]rawCall
	files map[string]File // at each read
	twice map[string]bool // ids that are not those of one read
}

type rawCall struct {
	tool string
	args json.RawMessage
}

func (t *timeline) message(m message) {
	switch m.Role {
	case "assistant":
		for _, b := range items(m.Content) {
			if block := object(b); str(block, "type") == "toolCall" {
				id := str(block, "id")
				if _, known := t.calls[id]; known {
					t.twice[id] = true
				}
				t.calls[id] = rawCall{str(block, "name"), block["arguments"]}
			}
		}
	case "toolResult":
		call, ok := t.calls[m.ToolCallID]
		text, odd := content(m.Content)
		if !ok || m.IsError || odd {
			return
		}
		switch call.tool {
		case "read":
			t.read(m.ToolCallID, call.args, text)
		case "write":
			t.write(call.args)
		case "edit":
			t.edit(call.args)
		}
	}
}

func (t *timeline) file(name string) (string, *memory) {
	key := lexical(t.dir, name)
	if t.disk[key] == nil {
		t.disk[key] = &memory{}
	}
	return key, t.disk[key]
}

func (t *timeline) read(id string, args json.RawMessage, shown string) {
	call := newCall(id, "read", args)
	if call.Odd {
		return
	}
	name, asked := call.target("")
	key, m := t.file(name)
	if c, ok := parseClaim(shown); ok {
		t.claim(m, c)
	} else if sh, ok := guess(shown, asked, nil); ok {
		if sh.total > 0 && m.total > 0 && sh.total != m.total || !m.agrees(sh) {
			m.forget("the file changed")
		}
		m.show(sh, id)
	} else {
		m.forget("it was shown as something else")
	}
	file := File{Path: key, part: m.clone()}
	if all, ok := m.whole(); ok {
		file = File{Path: key, Bytes: []byte(all.raw)}
	}
	t.files[id] = file
}

// claim notes what a claim tells of the file itself.
func (t *timeline) claim(m *memory, c *claim) {
	switch c.kind {
	case Diff:
		base, ok := m.whole()
		if !ok {
			m.forget("it changed")
			return
		}
		// The change that the diff tells may be one that the session has shown already.
		if _, err := c.patch.reverse().apply(base.raw); err == nil && base.total == c.total {
			return
		}
		out, err := c.patch.apply(base.raw)
		m.forget("it changed")
		if err == nil {
			m.replace(out)
		}
	case Elsewhere:
		m.keep(c.start, c.end)
	case Unchanged, UnchangedLines:
		if m.total != c.total {
			m.keep(c.start, c.end)
			m.tell(c.total)
		}
	}
}

func (t *timeline) write(args json.RawMessage) {
	in := object(args)
	if in["path"] == nil || in["content"] == nil {
		return
	}
	_, m := t.file(str(in, "path"))
	m.replace(str(in, "content"))
}

// edit does what pi's edit does where that is simple: each old text is there just once, to the
// letter. What pi's tolerant search may have found is not known.
func (t *timeline) edit(args json.RawMessage) {
	in := object(args)
	_, m := t.file(str(in, "path"))
	base, ok := m.whole()
	m.forget("it was edited")
	if !ok || strings.ContainsAny(base.raw, "\r\ufeff") {
		return
	}
	edits := items(in["edits"])
	if in["oldText"] != nil {
		edits = append(edits, args)
	}
	out := base.raw
	for _, e := range edits {
		one := object(e)
		was, is := str(one, "oldText"), str(one, "newText")
		if was == "" || strings.Count(base.raw, was) != 1 || strings.Count(out, was) != 1 {
			return
		}
		out = strings.Replace(out, was, is, 1)
	}
	m.replace(out)
}

// replace makes raw the whole content.
func (m *memory) replace(raw string) {
	t := wholeText(raw)
	m.forget("")
	m.show(showing{1, t.total, t, t.total}, "")
}

// keep forgets all but the lines a to b, and the number of lines.
func (m *memory) keep(a, b int) {
	old := m.views
	m.forget("it changed elsewhere")
	for _, v := range old {
		if from, to := max(v.from, a), min(v.to, b); from <= to {
			m.learn(v.src, from, to, v.by)
		}
	}
}

// agrees reports whether what is shown is what was seen of these lines.
func (m *memory) agrees(sh showing) bool {
	for n := sh.from; sh.src != nil && n <= sh.to; n++ {
		if was, ok := m.line(n); ok {
			if is, _ := sh.src.line(n); is != was {
				return false
			}
		}
	}
	return true
}
