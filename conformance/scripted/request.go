package scripted

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Request is one recorded request to the model. Callers must not change it.
type Request struct {
	// Index counts the requests of one server from zero.
	Index int
	// Raw is the body, byte for byte.
	Raw []byte
	// Messages are the messages of the body, in order.
	Messages []Message
	// Tools are the names of the tools the body declares.
	Tools []string
	// Summary reports that the request asks for a summary of a conversation
	// (compaction, branch summary); it is answered outside the queue.
	Summary bool
	// Unscripted reports that the queue was empty, so that the server answered
	// with its closing text.
	Unscripted bool
	// Answer is the turn that was sent, with its call ids filled.
	Answer Turn
}

// A Message is one message of a request as the model receives it.
type Message struct {
	// Role is system, developer, user, assistant or tool.
	Role string
	// Text is the text content; the text parts of a list are joined without a
	// separator.
	Text string
	// ToolCalls are the calls of an assistant message.
	ToolCalls []ToolCall
	// ToolCallID names the call a tool message answers.
	ToolCallID string
}

// A ToolCall is a call as it stands in an assistant message of a request.
type ToolCall struct {
	ID, Name string
	// Arguments is the JSON text of the arguments.
	Arguments string
}

// ToolText is the text of the last tool message that answers the call, and
// whether there is one.
func (r Request) ToolText(callID string) (string, bool) {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := r.Messages[i]; m.Role == "tool" && m.ToolCallID == callID {
			return m.Text, true
		}
	}
	return "", false
}

// Contains reports whether any message of the request, of whatever role, holds
// the text.
func (r Request) Contains(text string) bool {
	for _, m := range r.Messages {
		if strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}

// wireRequest is the part of the chat/completions body the server reads.
type wireRequest struct {
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

// parseRequest decodes a body. A body that does not decode is an error: a
// request the oracle cannot read must not pass unseen.
func parseRequest(raw []byte) (Request, error) {
	var w wireRequest
	if err := json.Unmarshal(raw, &w); err != nil {
		return Request{}, fmt.Errorf("scripted: request body: %w", err)
	}
	r := Request{Raw: raw}
	for i, m := range w.Messages {
		text, err := contentText(m.Content)
		if err != nil {
			return Request{}, fmt.Errorf("scripted: message %d: %w", i, err)
		}
		msg := Message{Role: m.Role, Text: text, ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		r.Messages = append(r.Messages, msg)
	}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	r.Summary = asksForSummary(r)
	return r, nil
}

// contentText is the text of a content field: null, a string or a list of parts.
func contentText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String(), nil
}

// asksForSummary recognises the summarisation requests of a host: they declare
// no tools and their system prompt speaks of summarisation. Both are required,
// so a run without tools is not mistaken for one, nor a user who says the word.
func asksForSummary(r Request) bool {
	if len(r.Tools) > 0 {
		return false
	}
	for _, m := range r.Messages {
		if m.Role == "system" || m.Role == "developer" {
			return strings.Contains(m.Text, "summarization assistant")
		}
	}
	return false
}
