package realpi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"deja/conformance/scripted"
)

// A Pi is one running pi process. Its methods may be called from several
// goroutines, but one agent run at a time.
type Pi struct {
	// Options are the options with every default filled in.
	Options Options
	// StartTime is how long pi took from start to its first RPC answer.
	StartTime time.Duration

	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  *tail
	exited  chan struct{} // closed when the process and its readers are done
	killed  sync.Once     // a second kill might hit a recycled process group id
	cleanup func()        // removes the fresh parts of Options; nil after Restart

	writeMu sync.Mutex // one RPC line at a time
	stream  stream
}

// Start starts pi and waits until it answers. The process does not end with
// ctx; call Close.
func Start(ctx context.Context, o Options) (*Pi, error) {
	in, err := Installed(o.Line)
	if err != nil {
		return nil, err
	}
	o, cleanup, err := o.scratch()
	if err != nil {
		return nil, err
	}
	p := &Pi{Options: o, cleanup: cleanup, stderr: &tail{}, exited: make(chan struct{})}
	p.stream.init(o.Line == Line087)
	if err := p.launch(in); err != nil {
		cleanup()
		return nil, err
	}
	began := time.Now()
	ctx, cancel := bounded(ctx)
	defer cancel()
	if _, err := p.State(ctx); err != nil {
		_ = p.Close()
		return nil, fmt.Errorf("realpi: start: %w", err)
	}
	p.StartTime = time.Since(began)
	return p, nil
}

// launch starts the process and its reader.
func (p *Pi) launch(in Install) error {
	args, err := p.Options.args()
	if err != nil {
		return err
	}
	p.cmd = exec.Command(in.Node, append([]string{in.CLI}, args...)...)
	p.cmd.Dir = p.Options.Project
	p.cmd.Env = p.Options.environ()
	p.cmd.Stderr = p.stderr
	// A grandchild that keeps stderr open must not keep Wait from returning.
	p.cmd.WaitDelay = 2 * time.Second
	ownGroup(p.cmd)
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("realpi: %w", err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("realpi: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("realpi: %w", err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.stream.readAll(stdout)
	}()
	go func() {
		// Wait closes stdout, so read it to its end first; a grandchild may hold
		// it open after pi has gone, which killGroup in Close and Kill ends.
		<-read
		err := p.cmd.Wait()
		p.stream.fail(fmt.Errorf("pi has ended: %w", exitReason(err)))
		close(p.exited)
	}()
	return nil
}

// exitReason names a clean end too: to a waiting caller it is an error.
func exitReason(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// Close ends pi in the orderly way (end of input), kills its process group
// after three seconds, and removes what Start created.
func (p *Pi) Close() error {
	_ = p.stdin.Close()
	select {
	case <-p.exited:
	case <-time.After(3 * time.Second):
	}
	return p.Kill()
}

// Kill ends pi's whole process group with SIGKILL and removes what Start
// created. pi starts each command of the tool bash in a process group of its
// own; those groups are not reached.
func (p *Pi) Kill() error {
	err := p.crash()
	if p.cleanup != nil {
		p.cleanup()
		p.cleanup = nil
	}
	return err
}

// crash kills the group and waits for the end; folders and model stay.
func (p *Pi) crash() error {
	p.killed.Do(func() { killGroup(p.cmd) })
	select {
	case <-p.exited:
		return nil
	case <-time.After(5 * time.Second):
		return fmt.Errorf("realpi: process %d does not end", p.cmd.Process.Pid)
	}
}

// Restart ends this process (kill: as a crash, else orderly) and starts another
// that resumes the same session with the same home, project and model. The old
// value is spent, whatever the outcome.
func (p *Pi) Restart(ctx context.Context, kill bool) (*Pi, error) {
	st, err := p.State(ctx)
	if err != nil {
		return nil, err
	}
	cleanup := p.cleanup
	p.cleanup = nil
	if kill {
		err = p.Kill()
	} else {
		err = p.Close()
	}
	o := p.Options
	o.SessionFile = st.SessionFile
	var next *Pi
	if err == nil {
		next, err = Start(ctx, o)
	}
	if err != nil {
		if cleanup != nil {
			cleanup()
		}
		return nil, err
	}
	next.cleanup = cleanup
	return next, nil
}

// Model is the scripted model pi talks to.
func (p *Pi) Model() *scripted.Server { return p.Options.Model }

// Stderr is the end of what pi wrote to stderr, at most 64 KiB.
func (p *Pi) Stderr() string { return p.stderr.String() }

// explain adds the last lines of stderr and of the RPC stream to an error.
func (p *Pi) explain(op string, err error) error {
	if err == nil {
		return nil
	}
	var b strings.Builder
	if s := lastLines(p.Stderr(), 15); s != "" {
		fmt.Fprintf(&b, "\nlast lines of stderr:\n%s", s)
	}
	if s := p.stream.recent(12); s != "" {
		fmt.Fprintf(&b, "\nlast RPC lines:\n%s", s)
	}
	return fmt.Errorf("realpi: pi %s: %s: %w%s", p.Options.Line, op, err, b.String())
}

// lastLines is the last n lines of a text.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// bounded gives a context without a deadline the default one.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, defaultTimeout)
}

// tail is a writer that keeps the last 64 KiB.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	const keep = 64 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > keep {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-keep:]...)
	}
	return len(p), nil
}

// String is what has been kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
