package pi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// link is a conn under test, with handlers of the test's own.
type link struct {
	in   *io.PipeWriter
	out  lockedBuffer
	log  lockedBuffer
	done chan error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func connect(methods map[string]handler) *link {
	r, w := io.Pipe()
	x := &link{in: w, done: make(chan error, 1)}
	c := newConn(r, &x.out, &x.log, MaxMessage)
	go func() { x.done <- c.serve(context.Background(), methods) }()
	return x
}

func (x *link) send(t *testing.T, id any, method string) {
	t.Helper()
	if _, err := io.WriteString(x.in, request(t, id, method, nil)+"\n"); err != nil {
		t.Fatal(err)
	}
}

// replies waits for n answers and returns them by id.
func (x *link) replies(t *testing.T, n int) map[string]reply {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); strings.Count(x.out.String(), "\n") < n; {
		if time.Now().After(deadline) {
			t.Fatalf("want %d answers, got %q", n, x.out.String())
		}
		time.Sleep(time.Millisecond)
	}
	got := map[string]reply{}
	for line := range strings.Lines(x.out.String()) {
		r := parseReply(t, line)
		if _, twice := got[string(r.ID)]; twice {
			t.Errorf("two answers to %s", r.ID)
		}
		got[string(r.ID)] = r
	}
	return got
}

func (x *link) end(t *testing.T) {
	t.Helper()
	x.in.Close()
	select {
	case err := <-x.done:
		if err != nil {
			t.Errorf("serve: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("serve goes on after the end of its input")
	}
}

// slowly makes a handler whose work is done beside later requests.
func slowly(work func(ctx context.Context) (any, error), after func()) handler {
	return func(context.Context, json.RawMessage) (any, slow, error) {
		return nil, func(ctx context.Context) (any, func(context.Context), error) {
			res, err := work(ctx)
			return res, func(context.Context) { after() }, err
		}, nil
	}
}

func quick(f func() (any, error)) handler {
	return func(context.Context, json.RawMessage) (any, slow, error) { res, err := f(); return res, nil, err }
}

// Answers come as they are ready; a cancel reaches the one that it names, and no other.
func TestCancel(t *testing.T) {
	started, release := make(chan string, 2), make(chan struct{})
	kept := make(chan struct{}, 2)
	x := connect(map[string]handler{
		"wait": slowly(func(ctx context.Context) (any, error) {
			started <- ""
			select {
			case <-ctx.Done():
			case <-release:
			}
			return "done", nil
		}, func() { kept <- struct{}{} }),
		"quick": quick(func() (any, error) { return "quick", nil }),
	})
	x.send(t, 1, "wait")
	x.send(t, "two", "wait")
	x.send(t, 3, "quick")
	<-started
	<-started
	if got := x.replies(t, 1); string(got["3"].Result) != `"quick"` {
		t.Fatalf("a quick request behind slow ones: %+v", got)
	}
	fmt.Fprintln(x.in, `{"jsonrpc":"2.0","method":"cancel","params":{"id":1}}`)
	if got := x.replies(t, 2)["1"]; got.Error == nil || got.Error.Code != CodeCancelled {
		t.Errorf("the cancelled request: %+v, want CodeCancelled", got)
	}
	// As a request, and with an id that is not there any more.
	fmt.Fprintln(x.in, `{"jsonrpc":"2.0","id":4,"method":"cancel","params":{"id":1}}`)
	if got := x.replies(t, 3)["4"]; string(got.Result) != "{}" {
		t.Errorf("cancel as a request: %+v", got)
	}
	close(release)
	if got := x.replies(t, 4)[`"two"`]; string(got.Result) != `"done"` {
		t.Errorf("the other request: %+v", got)
	}
	x.end(t)
	if len(kept) != 2 {
		t.Errorf("what follows an answer ran %d times, want twice: it also lets go what the engine held for a cancelled one", len(kept))
	}
}

// An id that is under way is refused, and the request that has it goes on.
func TestIDUnderWay(t *testing.T) {
	release := make(chan struct{})
	x := connect(map[string]handler{"wait": slowly(func(context.Context) (any, error) { <-release; return "done", nil }, func() {})})
	x.send(t, 1, "wait")
	x.send(t, 1, "wait")
	for strings.Count(x.out.String(), "\n") < 1 {
		time.Sleep(time.Millisecond)
	}
	first := parseReply(t, x.out.String())
	if first.Error == nil || first.Error.Code != CodeInvalidRequest {
		t.Errorf("the second request: %+v, want CodeInvalidRequest", first)
	}
	close(release)
	x.end(t)
	lines := strings.Split(strings.TrimSpace(x.out.String()), "\n")
	if last := parseReply(t, lines[len(lines)-1]); len(lines) != 2 || string(last.Result) != `"done"` {
		t.Errorf("the first request: %+v in %q", last, lines)
	}
}

// The end of the input lets requests under way finish, and gives up those that take too long.
func TestEndDrains(t *testing.T) {
	var kept bool
	x := connect(map[string]handler{
		"short": slowly(func(context.Context) (any, error) { time.Sleep(50 * time.Millisecond); return "done", nil }, func() { kept = true }),
		"long":  slowly(func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }, func() {}),
	})
	x.send(t, 1, "short")
	x.send(t, 2, "long")
	start := time.Now()
	x.end(t)
	got := x.replies(t, 2)
	if string(got["1"].Result) != `"done"` || !kept {
		t.Errorf("the short request: %+v, kept: %t", got["1"], kept)
	}
	if got["2"].Error == nil || got["2"].Error.Code != CodeCancelled {
		t.Errorf("the long request: %+v, want CodeCancelled", got["2"])
	}
	if took := time.Since(start); took < patience/2 || took > patience+3*time.Second {
		t.Errorf("the end took %v, want about %v", took, patience)
	}
}

// A defect costs its request and nothing else; the log tells of it.
func TestPanics(t *testing.T) {
	x := connect(map[string]handler{
		"now":   quick(func() (any, error) { panic("at once") }),
		"later": slowly(func(context.Context) (any, error) { panic("beside others") }, func() {}),
		"after": slowly(func(context.Context) (any, error) { return "done", nil }, func() { panic("after the answer") }),
		"error": quick(func() (any, error) { return nil, errors.New("of no code") }),
		"ping":  quick(func() (any, error) { return nil, nil }),
	})
	for i, m := range []string{"now", "later", "after", "error", "ping"} {
		x.send(t, i, m)
	}
	got := x.replies(t, 5)
	for _, id := range []string{"0", "1", "3"} {
		if got[id].Error == nil || got[id].Error.Code != CodeInternal {
			t.Errorf("%s: %+v, want CodeInternal", id, got[id])
		}
	}
	if string(got["2"].Result) != `"done"` || string(got["4"].Result) != "{}" {
		t.Errorf("the others: %+v, %+v", got["2"], got["4"])
	}
	x.end(t)
	for _, want := range []string{"at once", "beside others", "after the answer", "conn_test.go"} {
		if !strings.Contains(x.log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// Notifications of slow methods are done side by side: they have no id that could be taken.
func TestSlowNotifications(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(2)
	x := connect(map[string]handler{"meet": slowly(func(ctx context.Context) (any, error) {
		wg.Done()
		wg.Wait()
		return nil, ctx.Err()
	}, func() {})})
	for range 2 {
		fmt.Fprintln(x.in, `{"jsonrpc":"2.0","method":"meet"}`)
	}
	x.end(t)
	if x.out.String() != "" {
		t.Errorf("a notification was answered: %q", x.out.String())
	}
}

// Input that breaks off with an error ends the server with that error.
func TestInputFails(t *testing.T) {
	broken := errors.New("cable cut")
	in := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"), iotest.ErrReader(broken))
	var out bytes.Buffer
	err := (&Server{}).Serve(t.Context(), in, &out)
	if !errors.Is(err, broken) || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("got %v and %q", err, out.String())
	}
}
