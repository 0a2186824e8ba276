package scenario

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// The engine is missing, dead, slow or talks nonsense: pi's plain read, one notice, restart with
// back-off (spec 1.2, spec 10.2).

// quick is far more than a read takes and less than the two seconds after which an engine is given
// up: a read below it has not waited for the engine.
const quick = 1800 * time.Millisecond

// plainOnly checks that nothing but pi's own read answers, and that everything else works.
func (s *stage) plainOnly() {
	s.t.Helper()
	text := numbered(100)
	s.write("a.txt", text)
	began := time.Now()
	s.want(s.read("a.txt"), text)
	if d := time.Since(began); d > 10*time.Second {
		s.t.Errorf("the first read took %v", d)
	}
	best := time.Hour
	for range 3 { // other work on the machine must not count
		began = time.Now()
		s.want(s.read("a.txt"), text)
		best = min(best, time.Since(began))
	}
	if best > quick {
		s.t.Errorf("no read during back-off took less than %v", best)
	}
	got := s.batch(scripted.Read(s.path("a.txt")), scripted.ReadRange(s.path("a.txt"), 10, 20), scripted.Read("missing"), scripted.Bash("echo works"))
	s.want(got[0], text)
	s.want(got[1], part(text, 10, 29))
	s.wantPart(got[2], "ENOENT")
	s.want(strings.TrimSpace(got[3]), "works")
	if errs := realpi.ExtensionErrors(s.Events()); len(errs) > 0 {
		s.t.Errorf("extension errors: %q", errs)
	}
}

// wantNotices fails the scenario unless deja has told the user just this often that it is off.
func (f faked) wantNotices(n int, about string) {
	f.t.Helper()
	got := f.told()
	if len(got) != n {
		f.t.Errorf("%d notices, want %d: %q", len(got), n, got)
	}
	for _, text := range got {
		f.wantPart(text, "readcache is off for now", about)
	}
}

// The binary that DEJA_BIN names is not there, may not be run, or is no program.
func TestEngineMissing(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		bin := filepath.Join(t.TempDir(), "deja")
		s := &stage{Pi: start(t, realpi.Options{Line: line, Env: []string{"DEJA_BIN=" + bin}}), t: t, dir: "."}
		f := faked{s, "", s.hear()}
		for i, there := range []func() error{
			func() error { return nil },
			func() error { return os.WriteFile(bin, []byte("\x7fELF, but not really\n"), 0o644) },
			func() error { return os.Chmod(bin, 0o755) },
		} {
			f.ok(there())
			f.plainOnly()
			f.wantNotices(i+1, "") // one for each session
			f.ok(f.NewSession(bg))
		}
	})
}

// An engine that runs and is of no use. spec 10.2
func TestEngineUseless(t *testing.T) {
	playFake(t, "", func(f faked) {
		for mode, about := range map[string]string{
			"die": "ended", "hang": "did not answer", "deaf": "did not answer", "nonsense": "Welcome to deja",
			"protocol": "protocol 99", "endless": "", "errors": "no",
		} {
			f.order("mode", mode)
			f.told = f.hear()
			f.plainOnly()
			f.wantNotices(1, about)
			f.ok(f.NewSession(bg))
			if f.t.Failed() {
				f.t.Fatalf("mode %s", mode)
			}
		}
	})
}

// Answers to a read that are JSON and nothing more.
func TestEngineWrongShapes(t *testing.T) {
	playFake(t, "shapes", func(s faked) {
		for i, shape := range []string{
			`"result":{}`, `"result":[]`, `"result":null`, `"result":"text"`, `"result":{"text":5}`, `"other":1`,
			`"result":{"text":"a","error":"b"}`, `"result":{"plain":{}}`, `"result":{"plain":{"path":["a"]}}`,
			`"result":{"error":{"message":"x"}}`, `"error":"boom"`, `"error":{"code":"x"}`,
		} {
			s.order("shape", shape)
			s.plainOnly()
			s.wantNotices(i+1, "")
			s.ok(s.NewSession(bg))
			if s.t.Failed() {
				s.t.Fatalf("the engine answered %s", shape)
			}
		}
	})
}

// kill ends the engine that left its process id.
func (f faked) kill() {
	f.t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.orders, "pid"))
	f.ok(err)
	pid, err := strconv.Atoi(string(raw))
	f.ok(err)
	f.ok(os.Remove(filepath.Join(f.orders, "pid")))
	f.ok(syscall.Kill(pid, syscall.SIGKILL))
	lieWait(f.t, "the engine's end", func() bool { return syscall.Kill(pid, 0) != nil })
}

// untilClaim reads until the answer is a claim; until then it must be the plain read.
func (s *stage) untilClaim(name, text string) string {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		got := s.read(name)
		if strings.HasPrefix(got, "[readcache: ") {
			return got
		}
		s.want(got, text)
	}
	s.t.Fatal("no claim after the back-off")
	return ""
}

// The engine is killed while it has nothing to do.
func TestEngineKilledBetweenReads(t *testing.T) {
	playFake(t, "exec", func(s faked) {
		text := numbered(100)
		s.write("a.txt", text)
		s.write("b.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.stored(text)
		s.kill()
		changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
		// The new engine knows from the session what the model has, and nothing else.
		if got := s.untilClaim("a.txt", changed); got != "[readcache: unchanged, 101 lines]" {
			s.wantDiff(got, text, changed)
		} else if !s.say("and now?").Contains("LINE 50 ") {
			s.t.Error("\"unchanged\" of a version that the model never received")
		}
		s.want(s.read("b.txt"), text)
		s.wantStub(s.read("b.txt"), "unchanged, 101 lines")
		if n := len(s.told()); n > 1 {
			s.t.Errorf("%d notices: %q", n, s.told())
		}
	})
}

// The engine is killed while a read waits for it.
func TestEngineKilledDuringRead(t *testing.T) {
	playFake(t, "proxy", func(s faked) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.order("hold", "")
		run, err := s.Prompt(bg, "read", scripted.Do(scripted.Read(s.path("a.txt"))))
		s.ok(err)
		lieWait(s.t, "the read to be held", func() bool { return exists(filepath.Join(s.orders, "held")) })
		s.kill()
		res, err := run.Wait(bg)
		s.ok(err)
		s.want(s.received(res)[0], text)
		s.ok(os.Remove(filepath.Join(s.orders, "hold")))
		s.wantNotices(1, "SIGKILL")
		s.want(s.untilClaim("a.txt", text), "[readcache: unchanged, 101 lines]")
		changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
		s.wantDiff(s.read("a.txt"), text, changed)
		s.wantNotices(1, "SIGKILL")
	})
}

// An engine that is too slow once is given up, and asked again later.
func TestEngineSlowOnce(t *testing.T) {
	playFake(t, "proxy", func(s faked) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.order("hold", "")
		began := time.Now()
		s.want(s.read("a.txt"), text)
		if d := time.Since(began); d < 1500*time.Millisecond || d > 10*time.Second {
			s.t.Errorf("the held read took %v, want about two seconds", d)
		}
		s.ok(os.Remove(filepath.Join(s.orders, "hold")))
		s.wantNotices(1, "did not answer within 2000 ms")
		s.want(s.untilClaim("a.txt", text), "[readcache: unchanged, 101 lines]")
		s.wantNotices(1, "did not answer within 2000 ms")
	})
}
