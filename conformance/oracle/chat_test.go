package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A chat is a conversation under construction: what the model called and was shown, and what was
// on disk at each read.
type chat struct {
	Request
	files map[string]File
}

func newChat() *chat { return &chat{Request{Dir: "/w"}, map[string]File{}} }

// read adds a read of f (path, or path and offset, limit) that was answered with text while the
// file held content.
func (c *chat) read(content, text string, args ...any) *chat {
	id := fmt.Sprintf("c%d", len(c.files)+1)
	call := &Call{ID: id, Tool: "read", Path: "f"}
	if len(args) > 0 {
		call.Path = args[0].(string)
	}
	if len(args) > 1 {
		offset, limit := args[1].(int), args[2].(int)
		call.Offset, call.Limit = &offset, &limit
	}
	name, _ := call.target("")
	c.files[id] = File{Path: "/w/" + name, Bytes: []byte(content)}
	c.call(call)
	c.result(Result{ID: id, Tool: "read", Text: text})
	return c
}

// plain adds a read that is answered with the whole text.
func (c *chat) plain(content string) *chat { return c.read(content, content) }

func (c *chat) contents(id, _ string) (File, bool) {
	f, ok := c.files[id]
	return f, ok
}

func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

type dict = map[string]any

func (c *Call) args() dict {
	d := dict{"path": c.Path}
	if c.Offset != nil {
		d["offset"] = *c.Offset
	}
	if c.Limit != nil {
		d["limit"] = *c.Limit
	}
	return d
}

func (r Request) openAI() []byte {
	list := []any{dict{"role": "system", "content": "be good"}, dict{"role": "user", "content": []any{dict{"type": "text", "text": "go"}}}}
	for _, s := range r.Steps {
		if s.Call != nil {
			fn := dict{"name": s.Call.Tool, "arguments": string(marshal(s.Call.args()))}
			list = append(list, dict{"role": "assistant", "content": nil, "tool_calls": []any{dict{"id": s.Call.ID, "type": "function", "function": fn}}})
			continue
		}
		list = append(list, dict{"role": "tool", "tool_call_id": s.Result.ID, "content": s.Result.Text})
	}
	return marshal(dict{"model": "m", "messages": list})
}

func (r Request) anthropic() []byte {
	list := []any{dict{"role": "user", "content": "go"}}
	for _, s := range r.Steps {
		if s.Call != nil {
			list = append(list, dict{"role": "assistant", "content": []any{dict{"type": "tool_use", "id": s.Call.ID, "name": "Read", "input": s.Call.args()}}})
			continue
		}
		block := dict{"type": "tool_result", "tool_use_id": s.Result.ID, "content": []any{dict{"type": "text", "text": s.Result.Text}}, "is_error": s.Result.Error}
		list = append(list, dict{"role": "user", "content": []any{block}})
	}
	return marshal(dict{"system": "be good", "messages": list})
}

// jsonl is the session whose entries are the steps, e0, e1 and so on.
func (r Request) jsonl(more ...dict) []byte {
	var out bytes.Buffer
	add := func(d dict) { out.Write(append(marshal(d), '\n')) }
	add(dict{"type": "session", "version": 3, "id": "s", "cwd": r.Dir})
	parent := any(nil)
	for i, s := range r.Steps {
		e := dict{"type": "message", "id": fmt.Sprintf("e%d", i), "parentId": parent}
		if s.Call != nil {
			call := dict{"type": "toolCall", "id": s.Call.ID, "name": s.Call.Tool, "arguments": s.Call.args()}
			e["message"] = dict{"role": "assistant", "content": []any{call}, "stopReason": "toolUse"}
		} else {
			text := dict{"type": "text", "text": s.Result.Text}
			e["message"] = dict{"role": "toolResult", "toolCallId": s.Result.ID, "toolName": s.Result.Tool, "isError": s.Result.Error, "content": []any{text}}
		}
		add(e)
		parent = e["id"]
	}
	for _, e := range more {
		if _, ok := e["parentId"]; !ok {
			e["parentId"] = parent
		}
		add(e)
		parent = e["id"]
	}
	return out.Bytes()
}

// judge judges the chat in all three forms, which must agree.
func (c *chat) judge(t testing.TB) []Verdict {
	t.Helper()
	direct := c.Judge(c.contents)
	for form, parse := range map[string]func() (Request, error){
		"OpenAI":    func() (Request, error) { return OpenAI(c.openAI()) },
		"Anthropic": func() (Request, error) { return Anthropic(c.anthropic()) },
		"session":   func() (Request, error) { return Session(bytes.NewReader(c.jsonl()), "") },
	} {
		r, err := parse()
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if diff := cmp.Diff(direct, r.Judge(c.contents)); diff != "" {
			t.Errorf("%s form (-direct +parsed):\n%s", form, diff)
		}
	}
	return direct
}

// brief is what is compared of verdicts: "proven", or "false 12: reason".
func brief(list []Verdict) string {
	var out []string
	for _, v := range list {
		s := v.State.String()
		if v.Line > 0 {
			s += fmt.Sprintf(" %d", v.Line)
		}
		if v.Reason != "" {
			s += ": " + v.Reason
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

// file is n numbered lines without a newline at the end; changes replace lines.
func file(n int, changes ...any) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d", i+1)
	}
	for i := 0; i < len(changes); i += 2 {
		lines[changes[i].(int)-1] = changes[i+1].(string)
	}
	return strings.Join(lines, "\n")
}

// cut is lines a to b of content, as pi shows them with a limit.
func cut(content string, a, b int) string {
	lines := strings.Split(content, "\n")
	s := strings.Join(lines[a-1:b], "\n")
	if b < len(lines) {
		s += fmt.Sprintf("\n\n[%d more lines in file. Use offset=%d to continue.]", len(lines)-b, b+1)
	}
	return s
}
