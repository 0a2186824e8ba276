package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
)

// OpenAI reads the body of a chat completions request. Messages of unknown roles and members that
// it does not know are passed over. The error says that the body is no such request at all.
func OpenAI(body []byte) (Request, error) {
	messages, err := list(body, "messages")
	if err != nil {
		return Request{}, fmt.Errorf("OpenAI request: %w", err)
	}
	var r Request
	for _, raw := range messages {
		m := object(raw)
		if m == nil {
			r.odd("")
			continue
		}
		switch str(m, "role") {
		case "assistant":
			for _, c := range items(m["tool_calls"]) {
				call := object(c)
				fn := object(call["function"])
				r.call(newCall(str(call, "id"), str(fn, "name"), unquoted(fn["arguments"])))
			}
		case "tool":
			res := Result{ID: str(m, "tool_call_id"), Tool: str(m, "name")}
			res.Text, res.Odd = content(m["content"])
			r.result(res)
		}
	}
	return r, nil
}

// Anthropic reads the body of a messages request. Tools of pi are also known by the name that pi
// gives them for subscriptions ("Read"). Else it is as OpenAI.
func Anthropic(body []byte) (Request, error) {
	messages, err := list(body, "messages")
	if err != nil {
		return Request{}, fmt.Errorf("Anthropic request: %w", err)
	}
	var r Request
	for _, raw := range messages {
		m := object(raw)
		if m == nil {
			r.odd("")
			continue
		}
		for _, b := range items(m["content"]) {
			block := object(b)
			switch str(block, "type") {
			case "tool_use":
				name := str(block, "name")
				if name == "Read" {
					name = "read"
				}
				r.call(newCall(str(block, "id"), name, block["input"]))
			case "tool_result":
				res := Result{ID: str(block, "tool_use_id")}
				res.Text, res.Odd = content(block["content"])
				res.Error = string(block["is_error"]) == "true"
				r.result(res)
			}
		}
	}
	return r, nil
}

func (r *Request) call(c *Call)      { r.Steps = append(r.Steps, Step{Call: c}) }
func (r *Request) result(res Result) { r.Steps = append(r.Steps, Step{Result: &res}) }

// odd notes a message that may have been a result and cannot be read.
func (r *Request) odd(id string) { r.result(Result{ID: id, Odd: true}) }

var errNoMessages = errors.New("no list of messages")

// list is the array that the object body has as a member.
func list(body []byte, member string) ([]json.RawMessage, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil {
		return nil, err
	}
	var out []json.RawMessage
	if top[member] == nil || json.Unmarshal(top[member], &out) != nil {
		return nil, errNoMessages
	}
	return out, nil
}

// What follows reads values that may be of any kind: one that is not as expected is the zero value.

func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

func items(raw json.RawMessage) []json.RawMessage {
	var l []json.RawMessage
	if json.Unmarshal(raw, &l) != nil {
		return nil
	}
	return l
}

func str(m map[string]json.RawMessage, member string) string {
	var s string
	_ = json.Unmarshal(m[member], &s) // the zero value is meant
	return s
}

// unquoted is the JSON that arguments hold as a text, or are.
func unquoted(raw json.RawMessage) []byte {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	return raw
}

// content is the one text of a result. It is odd if there are other parts, or several.
func content(raw json.RawMessage) (s string, odd bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	if json.Unmarshal(raw, &s) == nil {
		return s, false
	}
	parts := items(raw)
	if parts == nil {
		return "", true
	}
	texts := 0
	for _, p := range parts {
		part := object(p)
		if str(part, "type") != "text" {
			odd = true
			continue
		}
		if texts++; texts == 1 {
			s = str(part, "text")
		} else {
			s += "\n" + str(part, "text") // as pi joins them
		}
	}
	return s, odd || texts > 1
}
