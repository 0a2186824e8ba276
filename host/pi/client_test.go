package pi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deja/readcache"
)

// reply is a line of the engine, of any kind.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *Error          `json:"error"`
}

// parseReply fails the test if a line is not one JSON-RPC 2.0 message.
func parseReply(t testing.TB, line string) reply {
	t.Helper()
	var r reply
	dec := json.NewDecoder(strings.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		t.Fatalf("the engine wrote %.200q: %v", line, err)
	}
	isNote, isResult, isError := r.Method != "", r.Result != nil, r.Error != nil
	switch {
	case r.Version != "2.0" || dec.More():
		t.Fatalf("not one JSON-RPC 2.0 message: %.200q", line)
	case isNote && (isResult || isError || r.ID != nil):
		t.Fatalf("a notification with more than method and params: %.200q", line)
	case !isNote && (isResult == isError || r.ID == nil):
		t.Fatalf("an answer wants an id and either result or error: %.200q", line)
	case isError && (r.Error.Code == 0 || r.Error.Message == ""):
		t.Fatalf("an error wants code and message: %.200q", line)
	}
	return r
}

// converse feeds the input to a server, ends it, and returns the answers in order, without ready.
func converse(t testing.TB, s *Server, input string) []reply {
	t.Helper()
	var out strings.Builder
	if err := s.Serve(t.Context(), strings.NewReader(input), &out); err != nil {
		t.Fatalf("Serve: %v", err)
	}
	var all []reply
	for line := range strings.Lines(out.String()) {
		all = append(all, parseReply(t, line))
	}
	if len(all) == 0 || all[0].Method != MethodReady {
		t.Fatalf("the first line is not ready: %.200q", out.String())
	}
	return all[1:]
}

// client talks to a running server, one request after the other.
type client struct {
	t     testing.TB
	in    *io.PipeWriter
	lines chan string
	done  chan error
	next  int
}

func dial(t testing.TB, s *Server) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, lines: make(chan string, 1024), done: make(chan error, 1)}
	go func() {
		c.done <- s.Serve(context.Background(), inR, outW)
		outW.Close()
	}()
	go func() {
		out := bufio.NewReader(outR)
		for {
			line, err := out.ReadString('\n')
			if err != nil {
				close(c.lines)
				return
			}
			c.lines <- line
		}
	}()
	t.Cleanup(func() { c.hangUp() })
	if r := parseReply(t, c.line()); r.Method != MethodReady {
		t.Fatalf("first line: method %q, want ready", r.Method)
	}
	return c
}

func (c *client) hangUp() error {
	c.in.Close()
	select {
	case err, ok := <-c.done:
		if ok {
			close(c.done)
		}
		return err
	case <-time.After(10 * time.Second):
		return fmt.Errorf("the server goes on after its input has ended")
	}
}

func (c *client) line() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the server has ended its output")
		}
		return line
	case <-time.After(10 * time.Second):
		c.t.Fatal("no line from the server for 10 s")
	}
	return ""
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// try sends a request and returns its answer, which must be the next line.
func (c *client) try(method string, params any) reply {
	c.t.Helper()
	c.next++
	c.send(request(c.t, c.next, method, params))
	r := parseReply(c.t, c.line())
	if string(r.ID) != fmt.Sprint(c.next) {
		c.t.Fatalf("answer has id %s, want %d", r.ID, c.next)
	}
	return r
}

// call is try for what has to succeed.
func (c *client) call(method string, params, result any) {
	c.t.Helper()
	r := c.try(method, params)
	if r.Error != nil {
		c.t.Fatalf("%s: %d %s", method, r.Error.Code, r.Error.Message)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(r.Result, result); err != nil {
		c.t.Fatalf("%s: %v in %s", method, err, r.Result)
	}
}

func request(t testing.TB, id any, method string, params any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// project is a folder with a file and a session that is about to read it.
type project struct {
	t    testing.TB
	dir  string
	home string
	leaf string
	n    int
}

const poem = "The road goes on and on\nfrom the door where it began,\nfar ahead the road has gone,\nand I follow, if I can.\n"

func newProject(t testing.TB) *project {
	p := &project{t: t, dir: t.TempDir(), home: t.TempDir()}
	p.write("poem.txt", poem)
	return p
}

func (p *project) write(name, text string) {
	p.t.Helper()
	full := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) open(session string) OpenParams {
	return OpenParams{Session: session, Cwd: p.dir, Home: p.home, Host: Host{FinalNewline: "terminator"}}
}

func (p *project) entry(e Entry) Entry {
	p.n++
	e.ID, e.Parent = fmt.Sprintf("e%d", p.n), p.leaf
	p.leaf = e.ID
	return e
}

// called is the message with the call of a read.
func (p *project) called(path string) []Entry {
	user := p.entry(Entry{Type: "message", Role: "user"})
	call := Call{ID: fmt.Sprintf("c%d", p.n), Path: path}
	return []Entry{user, p.entry(Entry{Type: "message", Role: "assistant", Calls: []Call{call}})}
}

// delivered is the entry that the host makes of an answer: text is what it has put into it.
func (p *project) delivered(r ReadResult, text string) Entry {
	e := Entry{Type: "message", Role: "toolResult", Tool: readTool, CallID: fmt.Sprintf("c%d", p.n-1), Digest: readcache.Digest(text)}
	if r.Plain == nil || r.Plain.Expect == e.Digest {
		e.Meta = r.Meta
	}
	return p.entry(e)
}

// read asks for a file at the present leaf, after telling of the call.
func (p *project) read(c *client, session, path string) ReadResult {
	p.t.Helper()
	entries := p.called(path)
	var res ReadResult
	c.call(MethodRead, ReadParams{EntriesParams: EntriesParams{Session: session, Entries: entries}, Leaf: p.leaf, Path: path}, &res)
	return res
}
