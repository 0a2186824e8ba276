package oracle

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spec 5.2, spec 5.4: which messages of a session pi sends. The steps of the chat are the entries
// e0 (call), e1 (whole text), e2 (call), e3 (claim).
func TestSessionContext(t *testing.T) {
	v1 := file(20)
	chat := newChat().plain(v1).read(v1, same20)
	user := dict{"type": "message", "message": dict{"role": "user", "content": "hi"}}
	with := func(e dict, more ...any) dict {
		out := dict{}
		for k, v := range e {
			out[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	compaction := func(id, kept string) dict {
		return dict{"type": "compaction", "id": id, "summary": v1, "firstKeptEntryId": kept}
	}
	edit := func(id, target string, replacement any) dict {
		return dict{"type": "context_edit", "id": id, "targetId": target, "replacement": replacement}
	}
	gone := "false 1: line 1 was never shown"
	forgotten := "false 1: line 1 is not known: the result of call c1 is not text of the file, so that what was seen last is not known"
	for name, c := range map[string]struct {
		more []dict
		leaf string
		want string
	}{
		"all":                             {nil, "", "proven"},
		"a leaf before the claim":         {nil, "e2", ""},
		"a leaf within":                   {[]dict{with(user, "id", "u")}, "e3", "proven"},
		"compaction keeps both":           {[]dict{compaction("k", "e0")}, "", "proven"},
		"compaction keeps the claim":      {[]dict{compaction("k", "e2")}, "", gone},
		"keeps the result, not its call":  {[]dict{compaction("k", "e1")}, "", gone},
		"compaction keeps nothing":        {[]dict{compaction("k", "nowhere")}, "", ""},
		"the latest compaction counts":    {[]dict{compaction("k", "e2"), with(user, "id", "u"), compaction("l", "e0")}, "", "proven"},
		"a leaf before the compaction":    {[]dict{compaction("k", "e2")}, "e3", "proven"},
		"compaction on another branch":    {[]dict{compaction("k", "e2"), with(user, "id", "u", "parentId", "e3")}, "u", "proven"},
		"rewind":                          {[]dict{with(user, "id", "u", "parentId", nil)}, "", ""},
		"a parent that is missing":        {[]dict{with(user, "id", "u", "parentId", "nowhere")}, "", ""},
		"omitted":                         {[]dict{edit("x", "e1", nil)}, "", gone},
		"replaced by a text":              {[]dict{edit("x", "e1", dict{"content": "gone"})}, "", forgotten},
		"replaced by parts":               {[]dict{edit("x", "e1", dict{"content": []any{dict{"type": "text", "text": "gone"}}})}, "", forgotten},
		"replaced by nothing":             {[]dict{edit("x", "e1", dict{})}, "", forgotten},
		"replaced by itself":              {[]dict{edit("x", "e1", dict{"content": v1})}, "", "proven"},
		"the latest edit counts":          {[]dict{edit("x", "e1", nil), edit("y", "e1", dict{"content": v1})}, "", "proven"},
		"edited on another branch":        {[]dict{edit("x", "e1", nil), with(user, "id", "u", "parentId", "e3")}, "u", "proven"},
		"an edit that was compacted away": {[]dict{edit("x", "e1", nil), compaction("k", "e0")}, "", gone},
		"the call is edited":              {[]dict{edit("x", "e0", dict{"content": "text"})}, "", gone},
		"entries twice, the last counts":  {[]dict{with(user, "id", "e1", "parentId", "e0"), with(user, "id", "u", "parentId", "e3")}, "u", gone},
		"a ring of parents":               {[]dict{with(user, "id", "e0", "parentId", "e3")}, "e3", gone},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Session(bytes.NewReader(chat.jsonl(c.more...)), c.leaf)
			if err != nil {
				t.Fatal(err)
			}
			if got := brief(r.Judge(chat.contents)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// An edit that stands before the kept tail is not in the context, and so has no effect.
func TestSessionEditBeforeTail(t *testing.T) {
	const lines = `{"type":"session","version":3,"cwd":"/w"}
{"type":"message","id":"c","message":{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"read","arguments":{"path":"f"}}]}}
{"type":"context_edit","id":"x","parentId":"c","targetId":"r","replacement":null}
{"type":"message","id":"r","parentId":"x","message":{"role":"toolResult","toolCallId":"1","toolName":"read","content":[{"type":"text","text":"a"}]}}
{"type":"compaction","id":"k","parentId":"r","firstKeptEntryId":"r"}`
	r, err := Session(strings.NewReader(lines), "")
	if err != nil || len(r.Steps) != 1 {
		t.Errorf("%d steps, %v; want the result", len(r.Steps), err)
	}
}

// Format v1 is a list without ids; a failed or aborted message of the model is not sent.
func TestSessionForms(t *testing.T) {
	const call = `{"type":"message","message":{"role":"assistant","stopReason":"STOP","content":[{"type":"toolCall","id":"1","name":"read","arguments":{"path":"f"}}]}}`
	const result = `{"type":"message","message":{"role":"toolResult","toolCallId":"1","toolName":"read","content":[{"type":"text","text":"a"}]}}`
	header := `{"type":"session","id":"h","cwd":"/w"}`
	for name, c := range map[string]struct {
		lines []string
		steps int
	}{
		"list":               {[]string{header, call, result}, 2},
		"list without head":  {[]string{call, result}, 2},
		"list, compacted":    {[]string{header, call, result, `{"type":"compaction","firstKeptEntryIndex":2}`}, 1},
		"list, odd index":    {[]string{header, call, result, `{"type":"compaction","firstKeptEntryIndex":99}`, result}, 1},
		"damaged lines":      {[]string{"", "garbage", `{"type":`, "[]", "null", header, call, "{}", result, `{"type":5}`}, 2},
		"members of no kind": {[]string{header, call, `{"type":"message","message":7}`, `{"type":"message","message":{"role":"toolResult","toolCallId":1,"content":[{"type":"text","text":"a"}]}}`}, 2},
		"aborted":            {[]string{header, strings.Replace(call, "STOP", "aborted", 1), result}, 1},
		"failed":             {[]string{header, strings.Replace(call, "STOP", "error", 1), result}, 1},
	} {
		r, err := Session(strings.NewReader(strings.Join(c.lines, "\r\n")), "")
		if err != nil || len(r.Steps) != c.steps {
			t.Errorf("%s: %d steps, %v; want %d", name, len(r.Steps), err, c.steps)
		}
	}
	for name, lines := range map[string]string{"nothing": "", "garbage": "x\n{", "a header": header} {
		if _, err := Session(strings.NewReader(lines), ""); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := Rebuilt(strings.NewReader(lines)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Session(strings.NewReader(header+"\n"+call), "nowhere"); err == nil {
		t.Error("a leaf that is not there: no error")
	}
}

// tool adds a call of another tool, with arguments that Request does not keep, to a session.
func (c *chat) tool(name string, args dict) dict {
	return dict{"type": "message", "id": "t-" + name, "message": dict{"role": "assistant", "content": []any{dict{"type": "toolCall", "id": "t-" + name, "name": name, "arguments": args}}}}
}

func done(name string, failed bool) dict {
	return dict{"type": "message", "id": "d-" + name, "message": dict{"role": "toolResult", "toolCallId": "t-" + name, "toolName": name, "isError": failed, "content": []any{dict{"type": "text", "text": "ok"}}}}
}

// claimed are the entries of a read that was answered with text.
func claimed(id, text string, args dict) []dict {
	return []dict{
		{"type": "message", "id": id, "message": dict{"role": "assistant", "content": []any{dict{"type": "toolCall", "id": id, "name": "read", "arguments": args}}}},
		{"type": "message", "id": id + "r", "message": dict{"role": "toolResult", "toolCallId": id, "toolName": "read", "content": []any{dict{"type": "text", "text": text}}}},
	}
}

// A session alone: files are rebuilt from what reads showed and tools wrote.
func TestRebuilt(t *testing.T) {
	v1, v2 := file(20), file(20, 12, "new")
	whole := newChat().plain(v1)
	part := newChat().read(v1, cut(v1, 3, 12), "f", 3, 10)
	f, lines := dict{"path": "f"}, dict{"path": "./f", "offset": 5, "limit": 6}
	kept := func(id string) []dict { return []dict{{"type": "compaction", "id": "k", "firstKeptEntryId": id}} }
	replace := func(name, was, is string) []dict {
		c := whole.tool(name, dict{"path": "f", "edits": []any{dict{"oldText": was, "newText": is}}, "content": is})
		return []dict{c, done(name, false)}
	}
	changed := `false 12: line 12 was last seen as "line 12" (call c1); the file has "new"`
	for name, c := range map[string]struct {
		chat *chat
		more [][]dict
		want string
	}{
		"whole":                      {whole, [][]dict{claimed("x", same20, f)}, "proven"},
		"lines":                      {whole, [][]dict{claimed("x", same510, lines)}, "proven"},
		"lines of a part":            {part, [][]dict{claimed("x", same510, lines)}, "proven"},
		"lines of a part, elsewhere": {part, [][]dict{claimed("x", else510, lines)}, "proven"},
		"whole of a part":            {part, [][]dict{claimed("x", same20, f)}, "false 1: line 1 was never shown"},
		"diff":                       {whole, [][]dict{claimed("x", diff12, f), claimed("y", same20, f)}, "proven\nproven"},
		"diff, gone":                 {whole, [][]dict{claimed("x", diff12, f), claimed("y", same20, f), kept("y")}, "false 1: line 1 was never shown"},
		"the carrier is compacted":   {whole, [][]dict{claimed("x", same20, f), kept("x")}, "false 1: line 1 was never shown"},
		"written since":              {whole, [][]dict{replace("write", "", v2), claimed("x", same20, f)}, changed},
		"written, then failed":       {whole, [][]dict{{whole.tool("write", dict{"path": "f", "content": v2}), done("write", true)}, claimed("x", same20, f)}, "proven"},
		"edited since":               {whole, [][]dict{replace("edit", "line 12\n", "new\n"), claimed("x", same20, f)}, changed},
		"edited, then a diff":        {whole, [][]dict{replace("edit", "line 12\n", "new\n"), claimed("x", diff12, f)}, "proven"},
		"edited, not clear":          {whole, [][]dict{replace("edit", "line 1", "new"), claimed("x", same20, f)}, "unknown: line 1 of the file at that read is not known"},
		"edited, old form":           {whole, [][]dict{{whole.tool("edit", dict{"path": "/w/f", "oldText": "line 12\n", "newText": "new\n"}), done("edit", false)}, claimed("x", same20, f)}, changed},
		"shown as another since":     {whole, [][]dict{claimed("y", cut(v2, 12, 13), dict{"path": "f", "offset": 12, "limit": 2}), claimed("x", same510, lines)}, "unknown: line 5 of the file at that read is not known"},
		"another file":               {whole, [][]dict{claimed("x", same20, dict{"path": "g"})}, "false 1: line 1 was never shown"},
		"changed on a left branch":   {whole, [][]dict{replace("write", "", v2), {{"type": "label", "id": "back", "parentId": "e1"}}, claimed("x", same20, f)}, changed},
	} {
		t.Run(name, func(t *testing.T) {
			var more []dict
			for _, m := range c.more {
				more = append(more, m...)
			}
			raw := c.chat.jsonl(more...)
			r, err := Session(bytes.NewReader(raw), "")
			if err != nil {
				t.Fatal(err)
			}
			files, err := Rebuilt(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if got := brief(r.Judge(files)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// Real sessions have no claims; that their reads are understood shows in how much of their files
// can be rebuilt.
func TestRealSessions(t *testing.T) {
	names, _ := filepath.Glob("../../../shared/sessions/*.jsonl")
	if len(names) == 0 {
		t.Skip("no real sessions")
	}
	reads, rebuilt := 0, 0
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Session(bytes.NewReader(raw), "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files, err := Rebuilt(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Judge(files); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
		for _, s := range r.Steps {
			if s.Call == nil || s.Call.Tool != "read" {
				continue
			}
			reads++
			if f, ok := files(s.Call.ID, ""); ok && f.part == nil {
				rebuilt++
			}
		}
	}
	t.Logf("%d of %d reads have their whole file", rebuilt, reads)
	if reads < 50 || rebuilt*4 < reads {
		t.Errorf("%d of %d reads have their whole file", rebuilt, reads)
	}
}
