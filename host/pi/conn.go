package pi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"
)

// message is a JSON-RPC 2.0 message of either kind.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"` // absent in a notification
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error is the error of a JSON-RPC response.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

func refuse(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// conn reads requests in order and writes answers as they are ready, a message a line.
type conn struct {
	in    *bufio.Reader
	limit int // of a message, in bytes
	log   io.Writer

	mu  sync.Mutex // guards out and running
	out io.Writer
	// running holds the cancel functions of requests under way, by their id.
	running map[string]context.CancelFunc
	work    sync.WaitGroup

	// quick reads a message that it knows faster than the general way and returns what answers it;
	// nil for the others. It runs ahead of the answers and touches nothing that they do.
	quick func(line []byte) (answer func())
}

// handler answers one request. It runs in order; what may take long it returns as a function that
// runs beside later requests. after runs when the answer is written.
type handler func(ctx context.Context, params json.RawMessage) (result any, later slow, err error)

type slow func(ctx context.Context) (result any, after func(context.Context), err error)

func newConn(in io.Reader, out, log io.Writer, limit int) *conn {
	return &conn{in: bufio.NewReaderSize(in, 1<<16), limit: limit, out: out, log: log, running: map[string]context.CancelFunc{}}
}

// patience is how long requests under way may go on when the input has ended: the host is gone or
// going, but a version being stored is worth the moment.
const patience = time.Second

// serve answers requests until the input ends and those under way are done.
func (c *conn) serve(ctx context.Context, methods map[string]handler) error {
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		defer time.AfterFunc(patience, stop).Stop()
		c.work.Wait()
		stop()
	}()
	for m := range c.read(ctx) {
		switch {
		case m.long:
			c.answer(nobody, nil, refuse(CodeTooLarge, "message over %d bytes was skipped; send fewer entries at a time", c.limit))
		case m.answer != nil:
			m.answer()
		case len(bytes.TrimSpace(m.line)) > 0:
			c.dispatch(ctx, m.line, methods)
		}
		if m.err != nil && !errors.Is(m.err, io.EOF) {
			return fmt.Errorf("read from the host: %w", m.err)
		}
	}
	return nil
}

// input is a line from the host, or the end.
type input struct {
	line   []byte
	long   bool
	answer func() // what conn.quick made of the line
	err    error  // the last one has it
}

// read delivers the lines of the host, one ahead of their answers: in a long session, reading
// the next batch of entries takes as long as replaying the one before.
func (c *conn) read(ctx context.Context) <-chan input {
	lines := make(chan input, 1)
	go func() {
		defer close(lines)
		for {
			line, long, err := readLine(c.in, c.limit)
			m := input{line: line, long: long, err: err}
			if c.quick != nil && !long {
				m.answer = c.quick(line)
			}
			select {
			case lines <- m:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

func (c *conn) dispatch(ctx context.Context, line []byte, methods map[string]handler) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			c.answer(nobody, nil, refuse(CodeParse, "not JSON: %v at byte %d", err, syntax.Offset))
		} else {
			c.answer(nobody, nil, refuse(CodeInvalidRequest, "want one JSON-RPC 2.0 request object a line: %.300v", err))
		}
		return
	}
	if m.ID != nil && !validID(m.ID) {
		c.answer(nobody, nil, refuse(CodeInvalidRequest, "want an id that is a number or a string, of at most %d bytes", maxID))
		return
	}
	if m.Version != "2.0" || m.Method == "" {
		if m.ID == nil {
			m.ID = nobody
		}
		c.answer(m.ID, nil, refuse(CodeInvalidRequest, "want \"jsonrpc\":\"2.0\" and a method"))
		return
	}
	if m.Method == MethodCancel {
		var p CancelParams
		if json.Unmarshal(m.Params, &p) == nil {
			c.cancel(string(p.ID))
		}
		c.answer(m.ID, nil, nil) // for a host that sent it as a request
		return
	}
	h := methods[m.Method]
	if h == nil {
		c.answer(m.ID, nil, refuse(CodeNoMethod, "method %.40q is not known", m.Method))
		return
	}
	c.run(ctx, m, h)
}

func (c *conn) run(ctx context.Context, m message, h handler) {
	var result any
	var later slow
	err := guard(c.log, m.Method, func() (err error) { result, later, err = h(ctx, m.Params); return err })
	if later == nil || err != nil {
		c.answer(m.ID, result, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	if !c.start(m.ID, cancel) {
		cancel()
		c.answer(m.ID, nil, refuse(CodeInvalidRequest, "id %s is that of a request under way", m.ID))
		return
	}
	c.work.Go(func() {
		defer cancel()
		var after func(context.Context)
		err := guard(c.log, m.Method, func() (err error) { result, after, err = later(ctx); return err })
		if ctx.Err() != nil {
			err = refuse(CodeCancelled, "cancelled")
		}
		c.finish(m.ID)
		c.answer(m.ID, result, err)
		if after != nil { // also when the answer was given up: what the engine holds for it is let go
			_ = guard(c.log, m.Method, func() error { after(context.WithoutCancel(ctx)); return nil })
		}
	})
}

// start notes a request as under way, so that it can be cancelled. It is false if its id is taken.
// What has no id cannot be cancelled.
func (c *conn) start(id json.RawMessage, cancel context.CancelFunc) bool {
	if id == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[string(id)] != nil {
		return false
	}
	c.running[string(id)] = cancel
	return true
}

func (c *conn) cancel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.running[id]; stop != nil {
		stop()
	}
}

func (c *conn) finish(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, string(id))
}

// nobody is the id of an answer to what has no readable one.
var nobody = json.RawMessage("null")

// maxID bounds an id, which is sent back.
const maxID = 128

func validID(id json.RawMessage) bool {
	return len(id) <= maxID && (id[0] == '"' || id[0] == '-' || (id[0] >= '0' && id[0] <= '9'))
}

// answer writes the response to a request. A notification (nil id) gets none, not even an error.
func (c *conn) answer(id json.RawMessage, result any, err error) {
	if id == nil {
		return
	}
	m := message{Version: "2.0", ID: id}
	switch {
	case err != nil:
		var e *Error
		if !errors.As(err, &e) {
			e = refuse(CodeInternal, "%v", err)
		}
		m.Error = e
	case result == nil:
		m.Result = struct{}{}
	default:
		m.Result = result
	}
	c.write(m)
}

func (c *conn) notify(method string, params any) {
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err) // our own types
	}
	c.write(message{Version: "2.0", Method: method, Params: raw})
}

func (c *conn) write(m message) {
	line, err := json.Marshal(m)
	if err != nil {
		fmt.Fprintf(c.log, "deja: answer to %s cannot be written as JSON: %v\n", m.ID, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// A host that is gone shows as the end of the input; there is nobody left to tell.
	_, _ = c.out.Write(append(line, '\n'))
}

// guard turns a panic into an internal error: a defect costs one plain read, not the session.
func guard(log io.Writer, method string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(log, "deja: defect in %s: %v\n%s", method, p, debug.Stack())
			err = refuse(CodeInternal, "internal error in %s: %v", method, p)
		}
	}()
	return f()
}
