package realpi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Notify is a message an extension showed to the user.
type Notify struct {
	// Message is the text, Level info, warning or error ("" means info).
	Message, Level string
}

// Notifies are the notifications among events.
func Notifies(events []Event) []Notify {
	var out []Notify
	for _, e := range events {
		var n struct {
			Method     string          `json:"method"`
			Message    json.RawMessage `json:"message"`
			NotifyType string          `json:"notifyType"`
		}
		if e.Type != "extension_ui_request" || json.Unmarshal(e.Raw, &n) != nil || n.Method != "notify" {
			continue
		}
		var text string
		if json.Unmarshal(n.Message, &text) == nil {
			out = append(out, Notify{Message: text, Level: n.NotifyType})
		}
	}
	return out
}

// ExtensionErrors are the errors of extensions among events, one text each.
func ExtensionErrors(events []Event) []string {
	var out []string
	for _, e := range events {
		var x struct{ ExtensionPath, Event, Error string }
		if e.Type == "extension_error" && json.Unmarshal(e.Raw, &x) == nil {
			out = append(out, fmt.Sprintf("%s: %s: %s", x.ExtensionPath, x.Event, x.Error))
		}
	}
	return out
}

// Events are all events kept so far (at most 20000), without message_update.
func (p *Pi) Events() []Event { return p.stream.since(0) }

// Command runs an extension command, given as "/name args", waits until pi is
// at rest, and returns what it notified. A command nobody has registered and a
// handler that throws are errors; pi would send the former to the model.
func (p *Pi) Command(ctx context.Context, command string) ([]Notify, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	name, _, _ := strings.Cut(strings.TrimPrefix(command, "/"), " ")
	var known struct {
		Commands []struct{ Name, Source string } `json:"commands"`
	}
	if err := p.ask(ctx, "get_commands", nil, &known); err != nil {
		return nil, err
	}
	found := false
	for _, c := range known.Commands {
		found = found || (c.Name == name && c.Source == "extension")
	}
	if !strings.HasPrefix(command, "/") || !found {
		return nil, p.explain("command", fmt.Errorf("no extension has registered %q", command))
	}
	mark := p.stream.mark()
	if _, err := p.Send(ctx, "prompt", map[string]any{"message": command}); err != nil {
		return nil, err
	}
	if err := p.Idle(ctx); err != nil {
		return nil, err
	}
	events := p.stream.since(mark)
	for _, e := range ExtensionErrors(events) {
		if strings.Contains(e, "command:"+name) {
			return Notifies(events), p.explain(command, errors.New(e))
		}
	}
	return Notifies(events), nil
}

// hostile runs a command of the hostile extension and decodes the JSON object
// it notifies after "t: ". An answer with "error" is an error.
func (p *Pi) hostile(ctx context.Context, command string, into any) error {
	notes, err := p.Command(ctx, command)
	if err != nil {
		return err
	}
	for _, n := range notes {
		text, ok := strings.CutPrefix(n.Message, "t: ")
		if !ok {
			continue
		}
		var fault struct {
			Error       string `json:"error"`
			Unsupported bool   `json:"unsupported"`
		}
		if err := json.Unmarshal([]byte(text), &fault); err != nil {
			return p.explain(command, err)
		}
		if fault.Unsupported {
			return fmt.Errorf("realpi: pi %s: %s: %s: %w", p.Options.Line, command, fault.Error, ErrUnsupported)
		}
		if fault.Error != "" {
			return p.explain(command, errors.New(fault.Error))
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal([]byte(text), into)
	}
	return p.explain(command, errors.New("no answer from the hostile extension"))
}

// Leaf is the id of the current leaf, "" when the session is at its very start.
func (p *Pi) Leaf(ctx context.Context) (string, error) {
	var r struct{ Leaf string }
	err := p.hostile(ctx, "/t-leaf", &r)
	return r.Leaf, err
}

// Branch is the entries from the root to the current leaf, as on disk.
func (p *Pi) Branch(ctx context.Context) ([]Entry, error) {
	leaf, err := p.Leaf(ctx)
	if err != nil {
		return nil, err
	}
	s, err := p.Session(ctx)
	return s.Branch(leaf), err
}

// Tree moves the leaf as /tree does: to the entry itself, or to the parent of a
// user message.
func (p *Pi) Tree(ctx context.Context, entryID string) error {
	return p.hostile(ctx, "/t-tree "+entryID, nil)
}

// ResetLeaf moves the leaf before the first entry.
func (p *Pi) ResetLeaf(ctx context.Context) error { return p.hostile(ctx, "/t-reset-leaf", nil) }

// Omit hides an entry from the model on this branch (0.87 only, context_edit).
func (p *Pi) Omit(ctx context.Context, entryID string) error {
	return p.hostile(ctx, "/t-edit "+entryID+" omit", nil)
}

// Replace replaces an entry's content for the model on this branch (0.87 only).
func (p *Pi) Replace(ctx context.Context, entryID, text string) error {
	return p.hostile(ctx, "/t-edit "+entryID+" replace "+text, nil)
}

// AtBoundary arms one change that the hostile extension makes at the next
// boundary of the next run: when is "turn_end" (between a tool result and the
// next request) or "settle"; what is "omit last", "replace last TEXT", "compact"
// (keep nothing) or an entry id in place of "last". 0.87 only.
func (p *Pi) AtBoundary(ctx context.Context, when, what string) error {
	return p.hostile(ctx, "/t-at "+when+" "+what, nil)
}

// Append appends a custom entry, which the model does not see.
func (p *Pi) Append(ctx context.Context, customType string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("realpi: %w", err)
	}
	return p.hostile(ctx, "/t-append "+customType+" "+string(b), nil)
}

// Mode switches what the hostile extension does to tool results; see
// hostile/index.ts for the modes. tools limits it; none means every tool. The
// mode ends with the session: pi loads extensions anew for another one. Put
// DEJA_T_MODE=mode in Options.Env for one that stays.
func (p *Pi) Mode(ctx context.Context, mode string, tools ...string) error {
	return p.hostile(ctx, strings.Join(append([]string{"/t-mode", mode}, tools...), " "), nil)
}
