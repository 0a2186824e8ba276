package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"

	"github.com/google/go-cmp/cmp"
)

// twins are two pis in one project: ours has the extension, plain has not. Everything else, call
// ids included, is the same, so whatever differs is the extension's doing.
type twins struct{ ours, plain *stage }

func pair(t *testing.T, line realpi.Line) twins {
	t.Helper()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	extra, err := filepath.Abs(filepath.Join("testdata", "plain.ts"))
	if err != nil {
		t.Fatal(err)
	}
	one := func(with func(*testing.T, realpi.Options) *realpi.Pi) *stage {
		model, err := scripted.Start(scripted.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = model.Close() })
		s := staged(t, with(t, realpi.Options{
			Line: line, Project: project, Model: model, NoHostile: true,
			Extensions: []string{extra},
			Env:        []string{"DEJA_T_URL=" + model.URL()},
		}))
		s.dir = "shared"
		return s
	}
	return twins{ours: one(start), plain: one(func(t *testing.T, o realpi.Options) *realpi.Pi { return pitest.Start(t, o) })}
}

// both runs a prompt with the same script in both.
func (w twins) both(turns ...scripted.Turn) (ours, plain realpi.Result) {
	w.ours.t.Helper()
	for _, x := range []struct {
		s   *stage
		res *realpi.Result
	}{{w.ours, &ours}, {w.plain, &plain}} {
		res, err := x.s.Run(x.s.t.Context(), "please", turns...)
		x.s.ok(err)
		*x.res = res
	}
	return ours, plain
}

// body is a request body without its tools.
func body(t *testing.T, req scripted.Request) (rest string, tools map[string]string) {
	t.Helper()
	var all map[string]json.RawMessage
	var list []struct {
		Function struct{ Name string }
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(req.Raw, &all); err != nil {
		t.Fatal(err)
	}
	for _, into := range []any{&list, &raw} {
		if err := json.Unmarshal(all["tools"], into); err != nil {
			t.Fatal(err)
		}
	}
	tools = map[string]string{}
	for i, tool := range list {
		tools[tool.Function.Name] = string(raw[i])
	}
	delete(all, "tools")
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text), tools
}

// wantSame fails the test unless both models received the same bytes, but for the tools.
func wantSame(t *testing.T, ours, plain realpi.Result) {
	t.Helper()
	if len(ours.Requests) != len(plain.Requests) || len(ours.Requests) == 0 {
		t.Fatalf("%d requests, plain pi makes %d", len(ours.Requests), len(plain.Requests))
	}
	for i := range ours.Requests {
		a, _ := body(t, ours.Requests[i])
		b, _ := body(t, plain.Requests[i])
		if a != b {
			t.Errorf("request %d differs from plain pi's (-plain +ours):\n%s", i, cmp.Diff(b, a))
		}
	}
}

// event is the first event of this type about a call, without what names the read cache.
func event(t *testing.T, res realpi.Result, typ, call string) entry {
	t.Helper()
	for _, e := range res.Events {
		var m entry
		if err := json.Unmarshal(e.Raw, &m); err != nil {
			t.Fatal(err)
		}
		if e.Type == typ && m["toolCallId"] == call {
			return m
		}
	}
	t.Fatalf("no event %s for %s", typ, call)
	return nil
}

// details are the details of a finished tool call as the UI gets them.
func details(e entry) entry { return within(e, "result", "details") }

// kinds lists the types of the events of a run.
func kinds(res realpi.Result) string {
	var list []string
	for _, e := range res.Events {
		list = append(list, e.Type)
	}
	return strings.Join(list, "\n")
}

// rendered is what a user sees of a call's result.
func (s *stage) rendered(call string) []string {
	s.t.Helper()
	var lines []string
	s.ok(json.Unmarshal([]byte(s.command("/t-render "+call)), &lines))
	return lines
}

// bytesFile writes a file that need not be text.
func (s *stage) bytesFile(name string, content []byte) {
	s.t.Helper()
	s.write(name, "")
	s.ok(os.WriteFile(s.abs(name), bytes.Clone(content), 0o644))
}

// cutFiles are files that pi's limits cut, each in its own way.
func cutFiles() map[string]string {
	wide := strings.Repeat("x", 60<<10) + "\nsecond\n"
	var heavy strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&heavy, "%d %s\n", i, strings.Repeat("y", 100))
	}
	return map[string]string{"lines.txt": long(5000), "heavy.txt": heavy.String(), "wide.txt": wide, "whole.txt": numbered(50)}
}
