package realpi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	// maxEvents bounds the events kept of one process; older ones are dropped.
	maxEvents = 20_000
	// maxLine is how much of an RPC line an error message shows, in bytes.
	maxLine = 400
)

// An Event is one line pi wrote that is not the answer to a command.
type Event struct {
	// Type is the event's type: agent_start, message_end, extension_error, …
	Type string
	// Raw is the whole line.
	Raw json.RawMessage
}

// stream is the reading side of the RPC connection: it hands answers to their
// callers, keeps events, and follows whether pi is at rest.
type stream struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	err     error         // why there will be no more lines
	nextID  int
	waiting map[string]chan response
	events  []Event
	dropped int // events no longer in events
	lines   []string

	running    bool // between agent_start and agent_end (agent_settled where it exists)
	compacting bool
	expecting  bool // a run is sure to start: prompt sent, retry announced
	settles    bool // this pi sends agent_settled
	activity   int  // counts the events that touch the four above
}

// response is the answer to one command.
type response struct {
	Success bool            `json:"success"`
	Error   string          `json:"error"`
	Data    json.RawMessage `json:"data"`
}

// init prepares the stream; settles says that this pi sends agent_settled.
func (s *stream) init(settles bool) {
	s.settles = settles
	s.changed = make(chan struct{})
	s.waiting = map[string]chan response{}
}

// signal wakes the waiters; s.mu is held.
func (s *stream) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// readAll reads lines to the end of the stream. Lines may be of any length.
func (s *stream) readAll(r io.Reader) {
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.take(line)
		}
		if err != nil {
			return
		}
	}
}

// fail ends the stream: all present and future waiters get err.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.signal()
}

// take handles one line.
func (s *stream) take(line []byte) {
	var head struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		WillRetry bool   `json:"willRetry"`
	}
	err := json.Unmarshal(line, &head)
	s.mu.Lock()
	defer s.mu.Unlock()
	if head.Type != "message_update" {
		s.lines = append(s.lines, string(line[:min(len(line), maxLine)]))
		s.lines = s.lines[max(0, len(s.lines)-40):]
	}
	switch {
	case err != nil || head.Type == "message_update":
		return // not JSON: shown in errors only. Updates: many, and no news.
	case head.Type == "response":
		var r response
		if json.Unmarshal(line, &r) == nil && s.waiting[head.ID] != nil {
			s.waiting[head.ID] <- r
			delete(s.waiting, head.ID)
		}
		return
	}
	s.follow(head.Type, head.WillRetry)
	s.events = append(s.events, Event{Type: head.Type, Raw: line})
	if over := len(s.events) - maxEvents; over > 0 {
		s.events, s.dropped = s.events[over:], s.dropped+over
	}
	s.signal()
}

// follow keeps the picture of what pi is doing.
func (s *stream) follow(typ string, willRetry bool) {
	switch typ {
	case "agent_start":
		s.running, s.expecting = true, false
	case "agent_end":
		s.running = s.settles
	case "agent_settled":
		s.running, s.expecting = false, false
	case "compaction_start":
		s.compacting = true
	case "compaction_end":
		s.compacting, s.expecting = false, s.expecting || (willRetry && !s.settles)
	case "auto_retry_start":
		s.expecting = !s.settles
	case "auto_retry_end":
		s.expecting = false
	default:
		return
	}
	s.activity++
}

// expect notes that a prompt has been sent or that none will run after all.
func (s *stream) expect(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expecting = yes
	s.activity++
	s.signal()
}

// mark is the position after the last event.
func (s *stream) mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped + len(s.events)
}

// since is the events after a mark.
func (s *stream) since(mark int) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Event(nil), s.events[min(max(mark-s.dropped, 0), len(s.events)):]...)
}

// quiet waits until no run, compaction or announced run is left and returns
// the activity count at that moment.
func (s *stream) quiet(ctx context.Context) (activity int, err error) {
	for {
		s.mu.Lock()
		busy, changed := s.running || s.compacting || s.expecting, s.changed
		activity, err = s.activity, s.err
		s.mu.Unlock()
		if err != nil || !busy {
			return activity, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, fmt.Errorf("pi does not settle: %w", ctx.Err())
		}
	}
}

// recent is the end of the RPC stream, for error messages.
func (s *stream) recent(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines[max(0, len(s.lines)-n):], "\n")
}

// Send sends one RPC command (its type, and fields as in pi's docs/rpc*.md) and
// returns the data of the answer. The other methods are better unless the
// command has none.
func (p *Pi) Send(ctx context.Context, typ string, fields map[string]any) (json.RawMessage, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	s := &p.stream
	answer := make(chan response, 1)
	s.mu.Lock()
	s.nextID++
	id := fmt.Sprintf("t%d", s.nextID)
	s.waiting[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}()
	if err := p.write(id, typ, fields); err != nil {
		return nil, p.explain(typ, err)
	}
	for {
		s.mu.Lock()
		changed, gone := s.changed, s.err
		s.mu.Unlock()
		select {
		case r := <-answer:
			if !r.Success {
				return nil, p.explain(typ, errors.New(r.Error))
			}
			return r.Data, nil
		default:
		}
		if gone != nil {
			return nil, p.explain(typ, gone)
		}
		select {
		case r := <-answer:
			answer <- r // taken at the top of the loop
		case <-changed:
		case <-ctx.Done():
			return nil, p.explain(typ, fmt.Errorf("no answer: %w", ctx.Err()))
		}
	}
}

// write writes one command line.
func (p *Pi) write(id, typ string, fields map[string]any) error {
	cmd := map[string]any{"id": id, "type": typ}
	for k, v := range fields {
		cmd[k] = v
	}
	b, err := json.Marshal(cmd)
	if err != nil {
		return err
	}
	p.writeMu.Lock()
	defer p.writeMu.Unlock()
	_, err = p.stdin.Write(append(b, '\n'))
	return err
}
