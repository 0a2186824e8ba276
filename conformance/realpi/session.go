package realpi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A State is the answer to get_state, as far as tests need it.
type State struct {
	SessionFile         string `json:"sessionFile"`
	SessionID           string `json:"sessionId"`
	IsStreaming         bool   `json:"isStreaming"`
	IsCompacting        bool   `json:"isCompacting"`
	MessageCount        int    `json:"messageCount"`
	PendingMessageCount int    `json:"pendingMessageCount"`
}

// An Entry is one entry of a session file. Fields a kind lacks are empty.
type Entry struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	ParentID string `json:"parentId"` // "" for a root

	// Of kind message; Text joins the text parts of the content.
	Role, Text, ToolCallID, ToolName, StopReason string
	IsError                                      bool
	Details                                      json.RawMessage

	CustomType       string          `json:"customType"`       // custom, custom_message
	Data             json.RawMessage `json:"data"`             // custom
	TargetID         string          `json:"targetId"`         // context_edit, label
	Summary          string          `json:"summary"`          // compaction, branch_summary
	FirstKeptEntryID string          `json:"firstKeptEntryId"` // compaction
	// Raw is the line of the file.
	Raw json.RawMessage `json:"-"`
}

// wireMessage is a message in pi's own form.
type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	StopReason string          `json:"stopReason"`
	IsError    bool            `json:"isError"`
	Details    json.RawMessage `json:"details"`
}

// text joins the text parts of the content; a bare string is its own text.
func (m wireMessage) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(m.Content, &parts) // content without text has the text ""
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// A Session is a session file as it lies on disk: a tree of entries.
type Session struct {
	// Entries are in file order, without the header.
	Entries []Entry
}

// ReadSession reads a session file. A file that does not exist is an empty
// session: pi writes it with the first answer of the model.
func ReadSession(path string) (Session, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Session{}, nil
	}
	if err != nil {
		return Session{}, fmt.Errorf("realpi: session: %w", err)
	}
	var s Session
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, len(b)+1)
	for n := 1; sc.Scan(); n++ {
		line := bytes.Clone(sc.Bytes())
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e := Entry{Raw: line}
		var m struct {
			Message wireMessage `json:"message"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return Session{}, fmt.Errorf("realpi: %s:%d: %w", path, n, err)
		}
		if e.Type == "session" {
			continue
		}
		if e.Type == "message" {
			if err := json.Unmarshal(line, &m); err != nil {
				return Session{}, fmt.Errorf("realpi: %s:%d: %w", path, n, err)
			}
			w := m.Message
			e.Role, e.Text, e.ToolCallID, e.ToolName = w.Role, w.text(), w.ToolCallID, w.ToolName
			e.StopReason, e.IsError, e.Details = w.StopReason, w.IsError, w.Details
		}
		s.Entries = append(s.Entries, e)
	}
	return s, sc.Err()
}

// Find is the last entry that the function accepts.
func (s Session) Find(ok func(Entry) bool) (Entry, bool) {
	for i := len(s.Entries) - 1; i >= 0; i-- {
		if ok(s.Entries[i]) {
			return s.Entries[i], true
		}
	}
	return Entry{}, false
}

// ToolResult is the entry of a call's result.
func (s Session) ToolResult(callID string) (Entry, bool) {
	return s.Find(func(e Entry) bool { return e.Role == "toolResult" && e.ToolCallID == callID })
}

// User is the entry of the last user message that contains the text.
func (s Session) User(text string) (Entry, bool) {
	return s.Find(func(e Entry) bool { return e.Role == "user" && strings.Contains(e.Text, text) })
}

// Branch is the path from the root to the leaf; nil for an unknown leaf or "".
func (s Session) Branch(leaf string) []Entry {
	byID := make(map[string]Entry, len(s.Entries))
	for _, e := range s.Entries {
		byID[e.ID] = e
	}
	var path []Entry
	for id := leaf; id != "" && len(path) <= len(s.Entries); {
		e, ok := byID[id]
		if !ok {
			return nil
		}
		path = append(path, e)
		id = e.ParentID
	}
	slices.Reverse(path)
	return path
}

// State asks pi for its state.
func (p *Pi) State(ctx context.Context) (State, error) {
	var st State
	err := p.ask(ctx, "get_state", nil, &st)
	return st, err
}

// SessionFile is the path of the current session's file.
func (p *Pi) SessionFile(ctx context.Context) (string, error) {
	st, err := p.State(ctx)
	return st.SessionFile, err
}

// Session reads the current session's file from disk.
func (p *Pi) Session(ctx context.Context) (Session, error) {
	path, err := p.SessionFile(ctx)
	if err != nil {
		return Session{}, err
	}
	return ReadSession(path)
}

// A Compaction is the answer to compact.
type Compaction struct {
	Summary          string `json:"summary"`
	FirstKeptEntryID string `json:"firstKeptEntryId"`
	TokensBefore     int    `json:"tokensBefore"`
}

// Compact compacts the session by hand. pi refuses when there is too little to
// compact.
func (p *Pi) Compact(ctx context.Context) (Compaction, error) {
	var c Compaction
	err := p.ask(ctx, "compact", nil, &c)
	return c, err
}

// NewSession starts an empty session in the same process.
func (p *Pi) NewSession(ctx context.Context) error {
	return p.leave(ctx, "new_session", nil)
}

// SwitchSession loads another session file in the same process.
func (p *Pi) SwitchSession(ctx context.Context, file string) error {
	return p.leave(ctx, "switch_session", map[string]any{"sessionPath": file})
}

// Fork makes a new session of the path before a user message and switches to it.
func (p *Pi) Fork(ctx context.Context, userEntryID string) error {
	return p.leave(ctx, "fork", map[string]any{"entryId": userEntryID})
}

// Clone makes a new session of the path up to the leaf and switches to it.
func (p *Pi) Clone(ctx context.Context) error { return p.leave(ctx, "clone", nil) }

// Abort stops the current run.
func (p *Pi) Abort(ctx context.Context) error {
	_, err := p.Send(ctx, "abort", nil)
	return err
}

// leave sends a command that an extension may cancel; then it is an error.
func (p *Pi) leave(ctx context.Context, typ string, fields map[string]any) error {
	var r struct {
		Cancelled bool `json:"cancelled"`
	}
	if err := p.ask(ctx, typ, fields, &r); err != nil {
		return err
	}
	if r.Cancelled {
		return p.explain(typ, errors.New("cancelled by an extension"))
	}
	return nil
}

// ask sends a command and decodes its data.
func (p *Pi) ask(ctx context.Context, typ string, fields map[string]any, into any) error {
	data, err := p.Send(ctx, typ, fields)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return p.explain(typ, fmt.Errorf("answer: %w", err))
	}
	return nil
}
