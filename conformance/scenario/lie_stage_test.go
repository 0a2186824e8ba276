package scenario

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/scripted"
)

// The files lie_*_test.go and engine_fault_test.go show ways to fool a cache and to break it. This
// one holds what they share.

var bg = context.Background()

// run has the model make the calls, one turn each, in one agent run, and returns what it received
// for each of them.
func (s *stage) run(calls ...scripted.Call) []string {
	s.t.Helper()
	turns := make([]scripted.Turn, len(calls))
	for i, c := range calls {
		turns[i] = scripted.Do(c)
	}
	res, err := s.Run(bg, "work", turns...)
	s.ok(err)
	return s.received(res)
}

// batch has the model make the calls in one turn and returns what it received for each.
func (s *stage) batch(calls ...scripted.Call) []string {
	s.t.Helper()
	res, err := s.Run(bg, "work", scripted.Do(calls...))
	s.ok(err)
	return s.received(res)
}

func (s *stage) received(res realpi.Result) []string {
	s.t.Helper()
	var texts []string
	for _, c := range res.Calls {
		text, ok := res.Received(c.ID)
		if !ok {
			s.t.Fatalf("the model never received the result of %s %v", c.Name, c.Args)
		}
		texts = append(texts, text)
	}
	return texts
}

// talk adds an answer long enough to be all that a compaction keeps.
func (s *stage) talk() {
	s.t.Helper()
	_, err := s.Run(bg, "talk", scripted.Say(strings.Repeat("filler words ", 200)))
	s.ok(err)
}

// compactAway compacts so that nothing said before is left verbatim.
func (s *stage) compactAway() {
	s.t.Helper()
	s.talk()
	s.talk()
	_, err := s.Compact(bg)
	s.ok(err)
}

// lastEntry is the last entry of the branch that the function accepts.
func (s *stage) lastEntry(what string, ok func(realpi.Entry) bool) realpi.Entry {
	s.t.Helper()
	branch, err := s.Branch(bg)
	s.ok(err)
	for i := len(branch) - 1; i >= 0; i-- {
		if ok(branch[i]) {
			return branch[i]
		}
	}
	s.t.Fatalf("no %s in the branch", what)
	return realpi.Entry{}
}

// result is the entry of the last tool result, caller the last assistant message with a call.
func (s *stage) result() realpi.Entry {
	s.t.Helper()
	return s.lastEntry("tool result", func(e realpi.Entry) bool { return e.Role == "toolResult" })
}

func (s *stage) caller() realpi.Entry {
	s.t.Helper()
	return s.lastEntry("tool call", func(e realpi.Entry) bool {
		return e.Role == "assistant" && strings.Contains(string(e.Raw), `"toolCall"`)
	})
}

// needsEdits skips the scenario where pi has no context_edit.
func (s *stage) needsEdits() {
	s.t.Helper()
	if s.Options.Line == realpi.Line073 {
		s.t.Skip("this line of pi has no context_edit")
	}
}

// notices are what deja told the user since pi was started.
func (s *stage) notices() []string {
	var texts []string
	for _, n := range realpi.Notifies(s.Events()) {
		if strings.HasPrefix(n.Message, "readcache") {
			texts = append(texts, n.Message)
		}
	}
	return texts
}

// hear returns a function that says what deja has told the user from now on.
func (s *stage) hear() func() []string {
	n := len(s.notices())
	return func() []string { return s.notices()[n:] }
}

// pooled is a stage of a pi of the test's own kind, which later tests of the kind use as well. Kinds
// live in the pool under keys that are no line of pi.
func pooled(t *testing.T, kind realpi.Line, options func() realpi.Options) *stage {
	t.Helper()
	pool.Lock()
	var p *realpi.Pi
	if n := len(pool.idle[kind]); n > 0 {
		p, pool.idle[kind] = pool.idle[kind][n-1], pool.idle[kind][:n-1]
	}
	pool.Unlock()
	var err error
	if p == nil {
		p, err = realpi.Start(bg, options())
	} else {
		err = p.NewSession(bg)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			_ = p.Close()
			return
		}
		pool.Lock()
		defer pool.Unlock()
		pool.idle[kind] = append(pool.idle[kind], p)
	})
	return &stage{Pi: p, t: t, dir: fmt.Sprintf("s%d", stages.Add(1))}
}

// stored waits until the engine has put a text into the store, which it does after its answer.
func (s *stage) stored(text string) {
	s.t.Helper()
	lieWait(s.t, "the object", func() bool { return exists(s.object(text)) })
}

// wantDiff fails the scenario unless got is a diff from which, with the old text at hand, exactly
// the new text can be rebuilt.
func (s *stage) wantDiff(got, old, new string) {
	s.t.Helper()
	head, diff, _ := strings.Cut(got, "\n")
	if !regexp.MustCompile(fmt.Sprintf(`^\[readcache: \d+ lines changed of %d\]$`, countLines(new))).MatchString(head) {
		s.t.Errorf("the model received no diff (%q):\n%.2000s", s.notices(), got)
		return
	}
	rebuilt, err := applyDiff(old, diff)
	if err != nil || rebuilt != new {
		s.t.Errorf("the diff does not lead to the text on disk (%v):\n%.2000s", err, got)
	}
}

// wantPart fails the scenario unless got holds each of the parts.
func (s *stage) wantPart(got string, parts ...string) {
	s.t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			s.t.Errorf("the model received no %q:\n%.2000s", part, got)
		}
	}
}

// countLines counts as pi does.
func countLines(text string) int { return strings.Count(text, "\n") + 1 }

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@`)

// applyDiff rebuilds a text from an older one and a unified diff. It is as simple as can be: it has
// to be right where deja may be wrong.
func applyDiff(old, diff string) (string, error) {
	from, out, at := strings.SplitAfter(old, "\n"), []string{}, 0
	for _, l := range strings.SplitAfter(diff, "\n") {
		if m := hunkHead.FindStringSubmatch(l); m != nil {
			start, _ := strconv.Atoi(m[1])
			if m[2] != "0" {
				start--
			}
			if start < at || start > len(from) {
				return "", fmt.Errorf("hunk at line %d, already at %d", start, at)
			}
			out, at = append(out, from[at:start]...), start
			continue
		}
		switch {
		case l == "" || strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "+++ "):
		case l[0] == '\\':
			if n := len(out); n > 0 {
				out[n-1] = strings.TrimSuffix(out[n-1], "\n")
			}
		case l[0] == '+':
			out = append(out, l[1:])
		case at >= len(from) || strings.TrimSuffix(from[at], "\n") != strings.TrimSuffix(l[1:], "\n"):
			return "", fmt.Errorf("line %d of the old text is not %q", at+1, l[1:])
		case l[0] == ' ':
			out, at = append(out, from[at]), at+1
		case l[0] == '-':
			at++
		default:
			return "", fmt.Errorf("not a line of a diff: %q", l)
		}
	}
	return strings.Join(append(out, from[at:]...), ""), nil
}

// lieWait waits until a condition holds that other processes bring about.
func lieWait(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// exists reports whether there is a file of this name.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
