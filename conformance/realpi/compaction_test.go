package realpi_test

import (
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// filler is an answer long enough to be all that a compaction keeps.
var filler = scripted.Say(strings.Repeat("filler words ", 200))

func TestHarnessCompaction(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		p := started(t, line)
		for name, fn := range map[string]func(*testing.T, *realpi.Pi){
			"by hand": testCompaction, "automatic": testAutoCompaction,
			"inside a run": testCompactionInsideRun, "overflow": testOverflow,
		} {
			must(t, p.NewSession(ctx))
			t.Run(name, func(t *testing.T) { fn(t, p) })
		}
	})
}

func testCompaction(t *testing.T, p *realpi.Pi) {
	pitest.Read(t, p, "five.txt")
	_, err := p.Run(ctx, "talk", filler)
	must(t, err)
	if req := last(t, p); !req.Contains("two SECRET") {
		t.Fatal("before: the file is not in the request")
	}
	_, err = p.Run(ctx, "talk more", filler)
	must(t, err)
	_, err = p.Compact(ctx)
	must(t, err)
	req := last(t, p)
	if req.Contains("two SECRET") {
		t.Error("after: the file is still in the request")
	}
	if !req.Contains(p.Model().Summary()) {
		t.Error("after: the summary is not in the request")
	}
}

// A large reported prompt makes pi compact by itself; Run must wait for it.
func testAutoCompaction(t *testing.T, p *realpi.Pi) {
	pitest.Read(t, p, "five.txt")
	res, err := p.Run(ctx, "talk", scripted.Turn{Text: strings.Repeat("filler words ", 200), PromptTokens: 199_500})
	must(t, err)
	s, err := p.Session(ctx)
	must(t, err)
	if _, ok := s.Find(func(e realpi.Entry) bool { return e.Type == "compaction" }); !ok {
		t.Errorf("no compaction in the session after Run; %d requests", len(res.Requests))
	}
	if req := last(t, p); req.Contains("two SECRET") {
		t.Error("the file is still in the request")
	}
}

// In 0.87 the compaction can come between a tool result and the next request of
// the same run; in 0.73 it waits for the end of the run.
func testCompactionInsideRun(t *testing.T, p *realpi.Pi) {
	pitest.Read(t, p, "five.txt")
	_, err := p.Run(ctx, "talk", filler)
	must(t, err)
	res, err := p.Run(ctx, "work on",
		scripted.Turn{Calls: []scripted.Call{scripted.Bash("echo later")}, PromptTokens: 199_500},
		scripted.Turn{Text: "done", PromptTokens: 199_600})
	must(t, err)
	var summaries, after int
	for _, r := range res.Requests {
		if r.Summary {
			summaries++
		} else if summaries > 0 {
			after++
		}
	}
	if inside := after > 0; summaries == 0 || inside != (p.Options.Line == realpi.Line087) {
		t.Errorf("%d summaries, %d requests after the first", summaries, after)
	}
	if req, _ := res.Last(); req.Contains("two SECRET") != (p.Options.Line == realpi.Line073) {
		t.Error("the last request of the run has the wrong past")
	}
}

// After an overflow error pi compacts and goes on by itself; 0.73 does so with a
// timer, after agent_end and with nothing running in between.
func testOverflow(t *testing.T, p *realpi.Pi) {
	pitest.Read(t, p, "five.txt")
	_, err := p.Run(ctx, "talk", filler)
	must(t, err)
	res, err := p.Run(ctx, "too much",
		scripted.Turn{Status: 400, Text: "prompt is too long: 300000 tokens > 200000 maximum"},
		scripted.Say("recovered"))
	must(t, err)
	if n := len(res.Requests); n < 3 || !res.Requests[1].Summary || res.Requests[n-1].Answer.Text != "recovered" {
		t.Errorf("%d requests, want the failed one, summaries, and a second try", n)
	}
	if req, _ := res.Last(); req.Contains("two SECRET") {
		t.Error("the second try still has the file")
	}
}
