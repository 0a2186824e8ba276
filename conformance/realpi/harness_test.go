package realpi_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"

	"github.com/google/go-cmp/cmp"
)

// fiveLines is the file most tests read. SECRET is what mode redact looks for.
const fiveLines = "one\ntwo SECRET\nthree\nfour\nfive\n"

// ctx is the context of all tests: every wait of realpi has its own timeout.
var ctx = context.Background()

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// want compares what the model received.
func want(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// started is a pi with five.txt in its project.
func started(t *testing.T, line realpi.Line) *realpi.Pi {
	t.Helper()
	p := pitest.Start(t, realpi.Options{Line: line})
	pitest.Write(t, p, "five.txt", fiveLines)
	return p
}

// last is the last request of a run that says something and calls nothing.
func last(t *testing.T, p *realpi.Pi) scripted.Request {
	t.Helper()
	res, err := p.Run(ctx, "what do you see?", scripted.Say("I see"))
	must(t, err)
	req, ok := res.Last()
	if !ok {
		t.Fatal("no request")
	}
	return req
}

// The plain things share one process: starting pi is what costs time.
func TestHarnessPlain(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		p := started(t, line)
		for name, fn := range map[string]func(*testing.T, *realpi.Pi){
			"read": testRead, "batch": testBatch, "other tools": testOtherTools,
			"unused turns": testUnusedTurns, "provider error": testProviderError,
			"append": testAppend, "retry": testRetry, "command errors": testCommandErrors,
		} {
			must(t, p.NewSession(ctx))
			t.Run(name, func(t *testing.T) { fn(t, p) })
		}
	})
}

func testRead(t *testing.T, p *realpi.Pi) {
	want(t, "first read", pitest.Read(t, p, "five.txt"), fiveLines)
	want(t, "second read, plain pi", pitest.Read(t, p, "five.txt"), fiveLines)
	want(t, "range", pitest.Read(t, p, "five.txt", 2, 2), "two SECRET\nthree\n\n[3 more lines in file. Use offset=4 to continue.]")

	res, err := p.Run(ctx, "read what is not there", scripted.Do(scripted.Read("nope.txt")))
	must(t, err)
	if isErr, ok := res.IsError(res.Calls[0].ID); !ok || !isErr {
		t.Errorf("missing file: IsError = %v, %v; want true, true", isErr, ok)
	}
	if got, ok := res.Received(res.Calls[0].ID); !ok || !strings.Contains(got, "ENOENT") {
		t.Errorf("missing file: received %q, %v", got, ok)
	}
	t.Logf("start %v, a run of one call %v", p.StartTime, res.Elapsed)
}

func testBatch(t *testing.T, p *realpi.Pi) {
	pitest.Write(t, p, "b.txt", "bee\n")
	got, err := p.ReadBatch(ctx, scripted.Read("five.txt"), scripted.Read("b.txt"), scripted.ReadRange("five.txt", 5, 1))
	must(t, err)
	if diff := cmp.Diff([]string{fiveLines, "bee\n", "five\n\n[1 more lines in file. Use offset=6 to continue.]"}, got); diff != "" {
		t.Errorf("batch (-want +got):\n%s", diff)
	}
}

func testOtherTools(t *testing.T, p *realpi.Pi) {
	res, err := p.Run(ctx, "work",
		scripted.Do(scripted.Write("new.txt", "alpha\nbeta\n")),
		scripted.Do(scripted.Edit("new.txt", "beta", "gamma")),
		scripted.Turn{Text: "look", Calls: []scripted.Call{scripted.Bash("cat new.txt")}},
		scripted.Say("fine"))
	must(t, err)
	for _, c := range res.Calls {
		if isErr, ok := res.IsError(c.ID); isErr || !ok {
			got, _ := res.Received(c.ID)
			t.Errorf("%s: IsError = %v, %v: %s", c.Name, isErr, ok, got)
		}
	}
	if got, _ := res.Received(res.Calls[2].ID); strings.TrimSpace(got) != "alpha\ngamma" {
		t.Errorf("bash received %q", got)
	}
}

func testUnusedTurns(t *testing.T, p *realpi.Pi) {
	_, err := p.Run(ctx, "hello", scripted.Say("hi"), scripted.Say("never asked for"))
	if err == nil || !strings.Contains(err.Error(), "1 of 2 scripted turns") {
		t.Errorf("err = %v", err)
	}
}

// Moves in the session tree and edits of the context share one process too.
func TestHarnessSession(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		p := started(t, line)
		for name, fn := range map[string]func(*testing.T, *realpi.Pi){
			"fork": testFork, "tree": testTree, "reset leaf": testResetLeaf,
			"context edit": testContextEdit, "boundary": testBoundary,
		} {
			must(t, p.NewSession(ctx))
			t.Run(name, func(t *testing.T) { fn(t, p) })
		}
	})
}

func testFork(t *testing.T, p *realpi.Pi) {
	_, err := p.Run(ctx, "prompt alpha", scripted.Say("ok"))
	must(t, err)
	pitest.Read(t, p, "five.txt")
	before, err := p.SessionFile(ctx)
	must(t, err)
	s, err := p.Session(ctx)
	must(t, err)
	user, ok := s.User("please read")
	if !ok {
		t.Fatal("no user entry")
	}
	must(t, p.Fork(ctx, user.ID))
	req := last(t, p)
	if req.Contains("two SECRET") || !req.Contains("prompt alpha") {
		t.Error("the fork has the wrong past")
	}
	after, err := p.SessionFile(ctx)
	must(t, err)
	if after == before {
		t.Error("the fork has the same file")
	}
	must(t, p.SwitchSession(ctx, before))
	if req := last(t, p); !req.Contains("two SECRET") {
		t.Error("the old session has lost the file")
	}
	must(t, p.Clone(ctx))
	if req := last(t, p); !req.Contains("two SECRET") {
		t.Error("the clone has lost the file")
	}
	must(t, p.NewSession(ctx))
	if req := last(t, p); req.Contains("two SECRET") {
		t.Error("the new session knows the file")
	}
}

func testTree(t *testing.T, p *realpi.Pi) {
	_, err := p.Run(ctx, "prompt alpha", scripted.Say("ok"))
	must(t, err)
	start, err := p.Leaf(ctx)
	must(t, err)
	pitest.Read(t, p, "five.txt")
	withFile, err := p.Leaf(ctx)
	must(t, err)

	must(t, p.Tree(ctx, start))
	if got, err := p.Leaf(ctx); err != nil || got != start {
		t.Fatalf("leaf = %q, %v; want %q", got, err, start)
	}
	if req := last(t, p); req.Contains("two SECRET") || !req.Contains("prompt alpha") {
		t.Error("earlier leaf: wrong past")
	}
	must(t, p.Tree(ctx, withFile))
	if req := last(t, p); !req.Contains("two SECRET") {
		t.Error("later leaf: the file is gone")
	}
	branch, err := p.Branch(ctx)
	must(t, err)
	if len(branch) == 0 || branch[0].ParentID != "" {
		t.Errorf("branch does not start at a root: %d entries", len(branch))
	}
}

func testResetLeaf(t *testing.T, p *realpi.Pi) {
	_, err := p.Run(ctx, "prompt alpha", scripted.Say("ok"))
	must(t, err)
	must(t, p.ResetLeaf(ctx))
	if got, err := p.Leaf(ctx); err != nil || got != "" {
		t.Errorf("leaf after reset = %q, %v", got, err)
	}
	if req := last(t, p); req.Contains("prompt alpha") {
		t.Error("after reset: the past is still there")
	}
}

func TestHarnessRestart(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		p := started(t, line)
		pitest.Read(t, p, "five.txt")
		for _, kill := range []bool{false, true} {
			next := pitest.Restart(t, p, kill)
			if req := last(t, next); !req.Contains("two SECRET") {
				t.Errorf("kill=%v: the resumed session has lost the file", kill)
			}
			if _, err := p.State(ctx); err == nil {
				t.Errorf("kill=%v: the old process still answers", kill)
			}
			p = next
		}
	})
}

func TestHarnessEnvironment(t *testing.T) {
	t.Setenv("DEJA_HARNESS_LEAK", "yes")
	for _, line := range realpi.Lines() {
		pitest.Require(t, line)
		p := pitest.Start(t, realpi.Options{Line: line, Env: []string{"GIVEN=1"}})
		res, err := p.Run(ctx, "env", scripted.Do(scripted.Bash("env")))
		must(t, err)
		got, _ := res.Received(res.Calls[0].ID)
		if strings.Contains(got, "DEJA_HARNESS_LEAK") || !strings.Contains(got, "GIVEN=1") {
			t.Errorf("%s: environment:\n%s", line, got)
		}
		home, project := p.Options.Home, p.Options.Project
		if !strings.Contains(got, "HOME="+home) {
			t.Errorf("%s: HOME is not %s:\n%s", line, home, got)
		}
		must(t, p.Close())
		for _, dir := range []string{home, project} {
			if left, _ := filepath.Glob(dir); left != nil {
				t.Errorf("%s: Close left %s", line, dir)
			}
		}
	}
}

func TestHarnessNotInstalled(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("go.mod", []byte("module other\n"), 0o644))
	for _, line := range realpi.Lines() {
		if _, err := realpi.Start(ctx, realpi.Options{Line: line}); err == nil || !strings.Contains(err.Error(), "make pi") {
			t.Errorf("%s: err = %v, want a hint at make pi", line, err)
		}
	}
}
