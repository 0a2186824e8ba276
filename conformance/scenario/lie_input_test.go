package scenario

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/scripted"
)

// Bad input: a clear error where pi gives one, the plain read everywhere else. The judge is a pi
// without the extension that is asked the same.

// bare borrows a pi of the same line without the extension. Ask it with absolute paths: its project
// is another one.
func (s *stage) bare(t *testing.T) *stage {
	t.Helper()
	line := s.Options.Line
	return pooled(t, "bare "+line, func() realpi.Options { return realpi.Options{Line: line} })
}

// call is a read with any arguments, also such as no model should send.
func call(path string, offset, limit any) scripted.Call {
	args := map[string]any{"path": path}
	if offset != nil {
		args["offset"] = offset
	}
	if limit != nil {
		args["limit"] = limit
	}
	return scripted.Call{Name: "read", Args: args}
}

// same has both pis make the calls and fails the scenario where the answers differ.
func (s *stage) same(bare *stage, calls ...scripted.Call) []string {
	s.t.Helper()
	got, want := s.batch(calls...), bare.batch(calls...)
	for i := range calls {
		if got[i] != want[i] {
			s.t.Errorf("%v: the model received\n%.500s\nand from pi alone\n%.500s", calls[i].Args, got[i], want[i])
		}
	}
	return got
}

// Paths that are no files.
func TestBadInput_Paths(t *testing.T) {
	play(t, func(s *stage) {
		bare := s.bare(s.t)
		s.write("a.txt", numbered(100))
		s.ok(os.Mkdir(s.abs("folder"), 0o755))
		s.ok(os.Symlink("loop", s.abs("loop")))
		s.ok(os.Symlink("gone", s.abs("dangling")))
		for range 2 {
			got := s.same(bare,
				call(s.abs("a.txt")+"\x00", nil, nil), call(s.abs("a\x00b"), 1, 5), call(s.abs("folder"), nil, nil),
				call(s.abs("folder")+"/", 1, 2), call(s.abs("missing"), nil, nil), call(s.abs("a.txt")+"/x", nil, nil),
				call(s.abs("loop"), nil, nil), call(s.abs("dangling"), nil, nil), call("", nil, nil), call("@", nil, nil),
				call(s.abs(strings.Repeat("n", 300)), nil, nil), call("/dev/null", nil, nil), call("/dev/null", 2, nil))
			s.wantPart(got[0], "null byte")
			s.wantPart(got[2], "EISDIR")
			s.wantPart(got[4], "ENOENT")
		}
		s.want(s.read("a.txt"), numbered(100))
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// A file that is deleted between two reads, and comes back.
func TestBadInput_DeletedBetweenReads(t *testing.T) {
	play(t, func(s *stage) {
		bare, text := s.bare(s.t), numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.stored(text)
		s.ok(os.Remove(s.abs("a.txt")))
		got := s.same(bare, call(s.abs("a.txt"), nil, nil), call(s.abs("a.txt"), 10, 20))
		s.wantPart(got[0], "ENOENT")
		s.write("a.txt", text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
		s.wantDiff(s.read("a.txt"), text, changed)
		s.ok(os.WriteFile(s.abs("a.txt"), nil, 0o644))
		for range 2 {
			s.same(bare, call(s.abs("a.txt"), nil, nil)) // pi has words of its own for an empty result
		}
	})
}

// Values of offset and limit that mean nothing, too much, or what nobody would guess.
func TestBadInput_OffsetAndLimit(t *testing.T) {
	play(t, func(s *stage) {
		bare, text := s.bare(s.t), numbered(100)
		values := []any{0, -1, 1.5, 0.5, -2.5, 1 << 31, 1<<31 + 1, 1 << 53, 1e18, 1e300, "3", "x", "", true, []int{3}, nil}
		var calls []scripted.Call
		add := func(offset, limit any) {
			name := fmt.Sprintf("f%d.txt", len(calls))
			s.write(name, text)
			calls = append(calls, call(s.abs(name), offset, limit))
		}
		for _, v := range values {
			add(v, nil)
			add(nil, v)
			add(v, v)
			add(10, v)
			add(v, 5)
		}
		first := s.same(bare, calls...)
		// Again: where the model has all that was asked for a claim is right, and nowhere else.
		claims := 0
		for i, got := range s.batch(calls...) {
			if strings.HasPrefix(got, "[readcache: unchanged") {
				claims++
				continue
			}
			s.want(got, first[i])
		}
		if claims == 0 {
			s.t.Error("no claim at all: limits beyond the end are as good as none")
		}
		// With the whole file known every odd value is a temptation.
		s.want(s.read("f0.txt"), text)
		for _, v := range []any{0, -1, 1.5, -2.5, 1 << 53} {
			s.same(bare, call(s.abs("f0.txt"), v, 5), call(s.abs("f0.txt"), 5, v))
		}
	})
}

// Files of one line, below and beyond what is looked at.
func TestBadInput_HugeLine(t *testing.T) {
	play(t, func(s *stage) {
		told := s.hear()
		bare := s.bare(s.t)
		for _, mb := range []int{20, 60} {
			name := fmt.Sprintf("%d.txt", mb)
			s.write(name, strings.Repeat("0123456789abcdef", mb<<16))
			for range 2 {
				began := time.Now()
				got := s.same(bare, call(s.abs(name), nil, nil))
				s.wantPart(got[0], fmt.Sprintf("[Line 1 is %d.0MB, exceeds", mb))
				if d := time.Since(began); d > 20*time.Second {
					s.t.Errorf("%d MB took %v", mb, d)
				}
			}
		}
		s.write("after.txt", numbered(100))
		s.want(s.read("after.txt"), numbered(100))
		s.wantStub(s.read("after.txt"), "unchanged, 101 lines")
		if n := told(); len(n) > 0 {
			s.t.Errorf("notices: %q", n)
		}
	})
}

// feed writes text into a pipe for every reader that opens it, and counts them.
func (s *stage) feed(name, text string) (readers *atomic.Int64, stop func()) {
	s.t.Helper()
	s.ok(syscall.Mkfifo(s.abs(name), 0o644))
	readers, done := new(atomic.Int64), make(chan struct{})
	ending := atomic.Bool{}
	go func() {
		defer close(done)
		for {
			f, err := os.OpenFile(s.abs(name), os.O_WRONLY, 0) // waits for a reader
			if err != nil || ending.Load() {
				return
			}
			readers.Add(1)
			_, _ = f.WriteString(text)
			_ = f.Close()
			time.Sleep(50 * time.Millisecond) // or the same reader would get it twice
		}
	}()
	return readers, func() {
		ending.Store(true)
		if f, err := os.OpenFile(s.abs(name), os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			<-done
			_ = f.Close()
		}
	}
}

// A pipe: pi opens it, and fails (it cannot seek in it). The engine must not take what is in it: the
// pipe is opened as often as by pi alone.
func TestBadInput_FIFO(t *testing.T) {
	play(t, func(s *stage) {
		bare, text := s.bare(s.t), "what came through the pipe\n"
		s.ok(os.MkdirAll(s.abs("."), 0o755))
		readers, stop := s.feed("pipe", text)
		defer stop()
		want := bare.batch(call(s.abs("pipe"), nil, nil))
		alone := readers.Load()
		got := s.batch(call(s.abs("pipe"), nil, nil))
		s.want(got[0], want[0])
		if n := readers.Load() - alone; n != alone {
			s.t.Errorf("the pipe was opened %d times; pi alone opens it %d times", n, alone)
		}
		s.write("a.txt", numbered(100))
		s.want(s.read("a.txt"), numbered(100))
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// A pipe that nobody writes to holds up pi's own read, until the user stops it. The engine goes on.
func TestBadInput_SilentFIFO(t *testing.T) {
	play(t, func(s *stage) {
		told := s.hear()
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.ok(syscall.Mkfifo(s.abs("pipe"), 0o644))
		run, err := s.Prompt(bg, "read", scripted.Do(scripted.Read(s.path("pipe"))))
		s.ok(err)
		time.Sleep(300 * time.Millisecond)
		s.ok(s.Abort(bg))
		_, err = run.Wait(bg)
		s.ok(err)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		if n := told(); len(n) > 0 {
			s.t.Errorf("notices: %q", n)
		}
		// Let the thread of pi go that still waits for a writer.
		if f, err := os.OpenFile(s.abs("pipe"), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = f.Close()
		}
	})
}

// Devices without an end are not for pi in a test; the engine alone must pass them on at once.
func TestBadInput_EndlessDevices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(engine, "pi")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = c.Wait() }()
	defer time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() }).Stop()
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"open","params":{"session":"s","cwd":%q,"home":%q,"host":{"finalNewline":"separator"}}}`+"\n", dir, dir)
	paths := []string{"/dev/zero", "/dev/full", "/dev/random", "/dev/tty", "pipe", "."}
	for i, path := range paths {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"read","params":{"session":"s","leaf":"","entries":[],"path":%q}}`+"\n", i+2, path)
	}
	seen := 0
	for lines := bufio.NewScanner(out); seen < len(paths) && lines.Scan(); {
		var m struct {
			ID     int
			Result struct {
				Reason string
				Plain  *struct{ Path, Expect string }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if m.ID < 2 {
			continue
		}
		seen++
		if m.Result.Plain == nil || m.Result.Plain.Expect != "" || m.Result.Plain.Path != paths[m.ID-2] {
			t.Errorf("%s: %s", paths[m.ID-2], lines.Text())
		}
	}
	if seen != len(paths) {
		t.Errorf("%d of %d answers", seen, len(paths))
	}
}
