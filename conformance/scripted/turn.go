package scripted

import (
	"encoding/json"
	"fmt"
	"time"
)

// A Turn is one answer of the model: some text, some tool calls, or a fault.
type Turn struct {
	// Text is streamed before the calls. Empty text is left out.
	Text string
	// Calls are the tool calls of this turn; more than one is a parallel batch.
	Calls []Call
	// PromptTokens is the prompt size the usage chunk reports, in tokens. Zero
	// means an estimate of one token for four bytes of request body. A large
	// value makes a host believe its context window is full.
	PromptTokens int
	// Delay is how long the server waits before it answers.
	Delay time.Duration
	// Status, when not zero, is the HTTP status of an error answer; Text is
	// then the error message and Calls are ignored.
	Status int
	// Hang keeps the response open and silent until the client goes away or
	// the server is closed.
	Hang bool
}

// A Call is one tool call of the model.
type Call struct {
	// Name is the name of the tool.
	Name string
	// ID is the tool call id. The server fills an empty one when the turn is
	// queued, so that ids are unique within one server.
	ID string
	// Args are the arguments; they are sent as JSON with sorted keys.
	Args map[string]any
}

// arguments is the JSON text of the call's arguments.
func (c Call) arguments() (string, error) {
	if c.Args == nil {
		return "{}", nil
	}
	b, err := json.Marshal(c.Args)
	if err != nil {
		return "", fmt.Errorf("scripted: arguments of %s: %w", c.Name, err)
	}
	return string(b), nil
}

// Read is a call of the tool read for a whole file.
func Read(path string) Call {
	return Call{Name: "read", Args: map[string]any{"path": path}}
}

// ReadRange is a call of the tool read with an offset (1-based first line) and
// a limit (number of lines). A value of zero or less leaves the argument out.
func ReadRange(path string, offset, limit int) Call {
	c := Read(path)
	if offset > 0 {
		c.Args["offset"] = offset
	}
	if limit > 0 {
		c.Args["limit"] = limit
	}
	return c
}

// Write is a call of the tool write.
func Write(path, content string) Call {
	return Call{Name: "write", Args: map[string]any{"path": path, "content": content}}
}

// Edit is a call of the tool edit with one replacement.
func Edit(path, oldText, newText string) Call {
	return Call{Name: "edit", Args: map[string]any{
		"path":  path,
		"edits": []any{map[string]any{"oldText": oldText, "newText": newText}},
	}}
}

// Bash is a call of the tool bash.
func Bash(command string) Call {
	return Call{Name: "bash", Args: map[string]any{"command": command}}
}

// Say is a turn of text only, which ends an agent run.
func Say(text string) Turn { return Turn{Text: text} }

// Do is a turn of tool calls only.
func Do(calls ...Call) Turn { return Turn{Calls: calls} }
