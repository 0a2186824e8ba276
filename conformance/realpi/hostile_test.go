package realpi_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

func TestHarnessAbort(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		p := started(t, line)
		run, err := p.Prompt(ctx, "hang", scripted.Do(scripted.Read("five.txt")), scripted.Turn{Hang: true})
		must(t, err)
		must(t, run.Requested(ctx, 2))
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		if err := p.Idle(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Idle during a hanging answer: %v", err)
		}
		must(t, p.Abort(ctx))
		res, err := run.Wait(ctx)
		must(t, err)
		if got, _ := res.Received(res.Calls[0].ID); got != fiveLines {
			t.Errorf("the hanging request had %q", got)
		}
		want(t, "read after abort", pitest.Read(t, p, "five.txt"), fiveLines)
		testKill(t, p)
	})
}

// testKill ends the process; it comes last.
func testKill(t *testing.T, p *realpi.Pi) {
	run, err := p.Prompt(ctx, "hang", scripted.Turn{Hang: true})
	must(t, err)
	must(t, run.Requested(ctx, 1))
	began := time.Now()
	must(t, p.Kill())
	if _, err := run.Wait(ctx); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("Wait after Kill: %v", err)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("Kill took %v", d)
	}
}

// pi waits between tries; Run must wait for the last one.
func testRetry(t *testing.T, p *realpi.Pi) {
	_, err := p.Send(ctx, "set_auto_retry", map[string]any{"enabled": true})
	must(t, err)
	defer func() {
		_, err := p.Send(ctx, "set_auto_retry", map[string]any{"enabled": false})
		must(t, err)
	}()
	// Status 400, because the client library of 0.73 repeats 429 and 5xx by itself.
	res, err := p.Run(ctx, "try", scripted.Turn{Status: 400, Text: "overloaded"}, scripted.Say("second"))
	must(t, err)
	if len(res.Requests) != 2 {
		t.Errorf("%d requests, want 2", len(res.Requests))
	}
}

func testProviderError(t *testing.T, p *realpi.Pi) {
	res, err := p.Run(ctx, "fail", scripted.Turn{Status: 400, Text: "scripted fault"})
	must(t, err)
	if len(res.Requests) != 1 {
		t.Errorf("%d requests, want 1", len(res.Requests))
	}
	want(t, "read after a fault", pitest.Read(t, p, "five.txt"), fiveLines)
}

// The modes of the hostile extension share one process.
func TestHarnessModes(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		p := started(t, line)
		t.Run("result", func(t *testing.T) { testResultModes(t, p) })
		must(t, p.Mode(ctx, "redact"))
		must(t, p.NewSession(ctx))
		// pi loads extensions anew with every session, so the mode is gone.
		want(t, "redact, then a new session", pitest.Read(t, p, "five.txt"), fiveLines)
		must(t, p.NewSession(ctx))
		t.Run("request", func(t *testing.T) { testRequestModes(t, p) })
	})
}

func testResultModes(t *testing.T, p *realpi.Pi) {
	must(t, p.Mode(ctx, "redact", "read"))
	want(t, "redact", pitest.Read(t, p, "five.txt"),
		strings.ReplaceAll(fiveLines, "SECRET", "[redacted]")+"\n[rewritten by t-mode]")
	must(t, p.Mode(ctx, "redact", "bash"))
	want(t, "redact for another tool", pitest.Read(t, p, "five.txt"), fiveLines)

	must(t, p.Mode(ctx, "fliperror"))
	res, err := p.Run(ctx, "read", scripted.Do(scripted.Read("five.txt")))
	must(t, err)
	if isErr, ok := res.IsError(res.Calls[0].ID); !isErr || !ok {
		t.Errorf("fliperror: IsError = %v, %v", isErr, ok)
	}
	s, err := p.Session(ctx)
	must(t, err)
	if e, ok := s.ToolResult(res.Calls[0].ID); !ok || !e.IsError || e.Text != fiveLines {
		t.Errorf("fliperror: the session has %+v, %v", e, ok)
	}

	must(t, p.Mode(ctx, "deny", "read"))
	if got := pitest.Read(t, p, "five.txt"); !strings.Contains(got, "denied by t-mode") {
		t.Errorf("deny: received %q", got)
	}
	must(t, p.Mode(ctx, "delay=400"))
	began := time.Now()
	want(t, "delay", pitest.Read(t, p, "five.txt"), fiveLines)
	if d := time.Since(began); d < 400*time.Millisecond {
		t.Errorf("delay: %v", d)
	}
	must(t, p.Mode(ctx, "throw"))
	got := pitest.Read(t, p, "five.txt")
	t.Logf("throw: received %q, extension errors %q", got, realpi.ExtensionErrors(p.Events()))
	if len(realpi.ExtensionErrors(p.Events())) == 0 {
		t.Error("throw: no extension error reported")
	}
	if err := p.Mode(ctx, "nonsense"); err == nil {
		t.Error("an unknown mode is accepted")
	}
}

func testRequestModes(t *testing.T, p *realpi.Pi) {
	pitest.Write(t, p, "b.txt", "bee\n")
	res, err := p.Run(ctx, "read", scripted.Do(scripted.Read("five.txt")))
	must(t, err)
	id := res.Calls[0].ID
	pitest.Read(t, p, "b.txt")
	for mode, text := range map[string]string{
		"prune": "[pruned by t-mode]", "cut=6": "one\ntw", "none": fiveLines,
	} {
		must(t, p.Mode(ctx, mode))
		req := last(t, p)
		got, ok := req.ToolText(id)
		if !ok || got != text {
			t.Errorf("%s: the old result reads %q, %v; want %q", mode, got, ok, text)
		}
		if mode != "cut=6" && !req.Contains("bee") {
			t.Errorf("%s: the newest result is gone", mode)
		}
	}
	must(t, p.Mode(ctx, "drop"))
	req := last(t, p)
	if got, ok := req.ToolText(id); req.Contains("two SECRET") {
		t.Errorf("drop: the old result reads %q, %v", got, ok)
	}
	s, err := p.Session(ctx)
	must(t, err)
	if e, ok := s.ToolResult(id); !ok || e.Text != fiveLines {
		t.Errorf("the session was changed: %+v, %v", e, ok)
	}
}

func testContextEdit(t *testing.T, p *realpi.Pi) {
	res, err := p.Run(ctx, "read", scripted.Do(scripted.Read("five.txt")))
	must(t, err)
	id := res.Calls[0].ID
	s, err := p.Session(ctx)
	must(t, err)
	entry, ok := s.ToolResult(id)
	if !ok {
		t.Fatal("no entry of the result")
	}
	before, err := p.Leaf(ctx)
	must(t, err)
	err = p.Omit(ctx, entry.ID)
	if p.Options.Line == realpi.Line073 {
		if !errors.Is(err, realpi.ErrUnsupported) {
			t.Errorf("0.73: Omit: %v, want ErrUnsupported", err)
		}
		if err := p.AtBoundary(ctx, "turn_end", "omit last"); !errors.Is(err, realpi.ErrUnsupported) {
			t.Errorf("0.73: AtBoundary: %v, want ErrUnsupported", err)
		}
		return
	}
	must(t, err)
	if req := last(t, p); req.Contains("two SECRET") {
		t.Error("omit: the file is still in the request")
	}
	must(t, p.Replace(ctx, entry.ID, "other text"))
	if got, _ := last(t, p).ToolText(id); got != "other text" {
		t.Errorf("replace: received %q", got)
	}
	must(t, p.Tree(ctx, before))
	if got, _ := last(t, p).ToolText(id); got != fiveLines {
		t.Errorf("leaf before the edits: received %q", got)
	}
}

// The changes of /t-at come between a tool result and the next request.
func testBoundary(t *testing.T, p *realpi.Pi) {
	if p.Options.Line == realpi.Line073 {
		t.Skip("0.73 has no boundary drafts")
	}
	for what, text := range map[string]string{"omit last": "No result provided", "replace last else": "else"} {
		must(t, p.AtBoundary(ctx, "turn_end", what))
		res, err := p.Run(ctx, "read", scripted.Do(scripted.Read("five.txt")))
		must(t, err)
		got, ok := res.Received(res.Calls[0].ID)
		if !ok || got != text {
			t.Errorf("%s: received %q, %v; want %q", what, got, ok, text)
		}
	}
	must(t, p.AtBoundary(ctx, "settle", "omit last"))
	want(t, "settle: still there in the run", pitest.Read(t, p, "five.txt"), fiveLines)
	if last(t, p).Contains("two SECRET") {
		t.Error("settle: still there in the next run")
	}
	pitest.Read(t, p, "five.txt")
	must(t, p.AtBoundary(ctx, "turn_end", "compact"))
	res, err := p.Run(ctx, "echo", scripted.Do(scripted.Bash("echo later")))
	must(t, err)
	req, _ := res.Last()
	if req.Contains("two SECRET") || !req.Contains("compacted by t-at") {
		t.Error("compact: the file is still in the request of the same run")
	}
}

func testAppend(t *testing.T, p *realpi.Pi) {
	pitest.Read(t, p, "five.txt")
	must(t, p.Append(ctx, "my-type", map[string]any{"text": "hidden payload"}))
	if last(t, p).Contains("hidden payload") {
		t.Error("the model sees a custom entry")
	}
	s, err := p.Session(ctx)
	must(t, err)
	e, ok := s.Find(func(e realpi.Entry) bool { return e.CustomType == "my-type" })
	if !ok || string(e.Data) != `{"text":"hidden payload"}` {
		t.Errorf("entry = %+v, %v", e, ok)
	}
}

func testCommandErrors(t *testing.T, p *realpi.Pi) {
	n := p.Model().Count()
	if _, err := p.Command(ctx, "/no-such-command"); err == nil {
		t.Error("an unknown command is accepted")
	}
	if p.Model().Count() != n {
		t.Error("an unknown command reached the model")
	}
	if err := p.Tree(ctx, "nonsense"); err == nil {
		t.Error("a tree jump to nowhere is accepted")
	}
	notes, err := p.Command(ctx, "/t-leaf")
	if err != nil || len(notes) != 1 {
		t.Errorf("/t-leaf: %v, %v", notes, err)
	}
}
