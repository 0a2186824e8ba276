package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// answer sends the turn of a recorded request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req Request) {
	t := req.Answer
	if t.Delay > 0 {
		timer := time.NewTimer(t.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		case <-s.stop:
			return
		}
	}
	if t.Status != 0 {
		writeError(w, t.Status, t.Text)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	if t.Hang {
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case <-r.Context().Done():
		case <-s.stop:
		}
		return
	}
	for _, c := range chunks(req) {
		b, err := json.Marshal(c)
		if err != nil { // Queue has checked the arguments; nothing else can fail
			return
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", b); err != nil {
			return
		}
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// object is a JSON object of the wire format.
type object = map[string]any

// chunks are the server-sent events of a turn: role, text, calls, the finish
// reason and usage. The id and the time are fixed: equal scripts give equal bytes.
func chunks(req Request) []object {
	chunk := func(choices ...object) object {
		if choices == nil {
			choices = []object{}
		}
		return object{
			"id": fmt.Sprintf("scripted-%d", req.Index), "object": "chat.completion.chunk",
			"created": 1, "model": "fake", "choices": choices,
		}
	}
	delta := func(d object) object {
		return chunk(object{"index": 0, "delta": d, "finish_reason": nil})
	}
	t, out, written := req.Answer, []object{delta(object{"role": "assistant"})}, len(req.Answer.Text)
	if t.Text != "" {
		out = append(out, delta(object{"content": t.Text}))
	}
	finish := "stop"
	for i, c := range t.Calls {
		finish = "tool_calls"
		args, _ := c.arguments() // checked by Queue
		written += len(args)
		out = append(out, delta(object{"tool_calls": []object{{
			"index": i, "id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": args},
		}}}))
	}
	out = append(out, chunk(object{"index": 0, "delta": object{}, "finish_reason": finish}))
	prompt := t.PromptTokens
	if prompt <= 0 {
		prompt = len(req.Raw)/4 + 1
	}
	completion := written/4 + 1
	usage := chunk()
	usage["usage"] = object{
		"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
	}
	return append(out, usage)
}

// writeError sends an error in the shape OpenAI clients expect.
func writeError(w http.ResponseWriter, status int, message string) {
	if message == "" {
		message = http.StatusText(status)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	b, err := json.Marshal(object{"error": object{"message": message, "type": "scripted"}})
	if err != nil {
		return
	}
	_, _ = w.Write(b)
}
