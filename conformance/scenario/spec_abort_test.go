package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// slowly is an engine that holds its answers back for a while as long as the file flag exists, so
// that an abort always comes before the answer.
func slowly(t *testing.T) (program, flag string) {
	t.Helper()
	dir := t.TempDir()
	program, flag = filepath.Join(dir, "deja"), filepath.Join(dir, "slow")
	text := fmt.Sprintf(`#!/bin/sh
'%s' "$@" | while IFS= read -r line; do
	[ -e '%s' ] && sleep 0.6
	printf '%%s\n' "$line"
done
`, engine, flag)
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, flag
}

// aborted has the model read a file and aborts the run a moment after pi got the call. It returns
// what the next request said of the call, if anything.
func (s *stage) aborted(after time.Duration, call scripted.Call) (text string, said bool) {
	s.t.Helper()
	run, err := s.Prompt(s.t.Context(), "read this", scripted.Do(call))
	s.ok(err)
	s.ok(run.Requested(s.t.Context(), 1))
	time.Sleep(after)
	s.ok(s.Abort(s.t.Context()))
	res, err := run.Wait(s.t.Context())
	s.ok(err)
	if text, said := res.Received(res.Calls[0].ID); said {
		return text, said // it was faster than the abort
	}
	return s.say("go on").ToolText(res.Calls[0].ID)
}

// long is a text of n short lines: many of them fit into one read.
func long(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "l%d %d\n", i, i%7)
	}
	return b.String()
}

// readAll has the model read all of a long file, 2000 lines at a time, and checks each part.
func (s *stage) readAll(name, text string) {
	s.t.Helper()
	total := countLines(text)
	var calls []scripted.Call
	var want []string
	for from := 1; from <= total; from += 2000 {
		calls = append(calls, scripted.ReadRange(s.path(name), from, 2000))
		if to := from + 1999; to < total {
			want = append(want, part(text, from, to))
		} else {
			want = append(want, slice(text, from, total))
		}
	}
	got, err := s.ReadBatch(s.t.Context(), calls...)
	s.ok(err)
	for i := range got {
		s.want(got[i], want[i])
	}
}

// Spec 21.4, 22: "signal abort during diff -> clean abort". The engine's answer, a diff of a file of
// 11 000 lines, is held back until the abort has come.
func TestSpec21_22_AbortDuringDiff(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		program, flag := slowly(t)
		s := staged(t, start(t, realpi.Options{Line: line, Env: []string{"DEJA_BIN=" + program}}))
		old := long(11_000)
		s.write("a.txt", old)
		s.readAll("a.txt", old)
		changed := s.change("a.txt", "l500 3\n", "changed\n")
		s.ok(os.WriteFile(flag, nil, 0o600))
		if text, said := s.aborted(100*time.Millisecond, scripted.Read(s.path("a.txt"))); said && strings.Contains(text, "readcache") {
			t.Errorf("the aborted call has a claim in its result: %s", text)
		}
		s.ok(os.Remove(flag))
		s.want(s.read("a.txt"), s.oneLine("a.txt", old, changed, 500)) // the abort delivered nothing, and took nothing
		for _, n := range realpi.Notifies(s.Events()) {
			if n.Level == "warning" || n.Level == "error" {
				t.Errorf("the abort became a fault: %s", n.Message)
			}
		}
	})
}

// The same with the engine as it is, aborted sooner or later while it works: whatever the aborted
// call left behind, the next answer is true.
func TestSpec21_22_AbortAnytime(t *testing.T) {
	play(t, func(s *stage) {
		old := long(11_000)
		s.write("a.txt", old)
		s.readAll("a.txt", old)
		held := old
		for i, after := range []time.Duration{0, time.Millisecond, 3 * time.Millisecond, 8 * time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond} {
			n := 100 + 50*i
			line := slice(old, n, n) + "\n"
			changed := s.change("a.txt", line, "changed "+line)
			text, said := s.aborted(after, scripted.Read(s.path("a.txt")))
			if said && strings.HasPrefix(text, "[readcache: ") {
				s.wantDiff(text, held, changed) // it was there before the abort
				s.wantStub(strings.Split(s.read("a.txt"), "\n")[0], fmt.Sprintf("unchanged, %d lines", countLines(changed)))
			} else {
				s.wantDiff(s.read("a.txt"), held, changed)
			}
			held = changed
		}
	})
}
