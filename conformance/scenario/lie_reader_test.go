package scenario

import (
	"os"
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// Ways a read cache lies, 16-26: the content never reached this reader.

// Class 19, "recorded before delivery: the call was denied, aborted or timed out": denied.
func TestLie19_Denied(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.ok(s.Mode(bg, "deny", "read"))
		s.wantPart(s.read("a.txt"), "denied by t-mode")
		s.ok(s.Mode(bg, "none"))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Class 19, aborted: the tool has run, its result is held back, and the user stops the run. Whether
// pi keeps such a result is pi's business; what the next request holds decides.
func TestLie19_AbortedAfterTheTool(t *testing.T) {
	play(t, func(s *stage) {
		text := strings.ReplaceAll(numbered(100), "cache", s.dir) // in no store yet
		s.write("a.txt", text)
		s.ok(s.Mode(bg, "delay=3000", "read"))
		run, err := s.Prompt(bg, "read", scripted.Do(scripted.Read(s.path("a.txt"))))
		s.ok(err)
		s.stored(text) // the engine has answered
		s.ok(s.Abort(bg))
		_, err = run.Wait(bg)
		s.ok(err)
		s.ok(s.Mode(bg, "none"))
		there := s.say("and now?").Contains("line 50 of the file")
		s.t.Logf("%s: the aborted read is in the next request: %v", s.Options.Line, there)
		if !there {
			s.want(s.read("a.txt"), text)
		}
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Class 20, "an error result that carries cache metadata".
func TestLie20_ErrorWithMetadata(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.ok(s.Mode(bg, "fliperror"))
		s.want(s.read("a.txt"), text)
		if e := s.result(); !e.IsError || !strings.Contains(string(e.Details), "readcache") {
			s.t.Fatalf("no error result with metadata: %s", e.Details)
		}
		s.want(s.read("a.txt"), text)
		s.ok(s.Mode(bg, "none"))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// Class 21, "the result was rewritten after the tool ran (redaction, output filter)".
func TestLie21_Rewritten(t *testing.T) {
	play(t, func(s *stage) {
		text := strings.Replace(numbered(100), "line 50 ", "SECRET ", 1)
		redacted := strings.Replace(text, "SECRET", "[redacted]", 1) + "\n[rewritten by t-mode]"
		s.write("a.txt", text)
		s.ok(s.Mode(bg, "redact", "read"))
		s.want(s.read("a.txt"), redacted)
		s.want(s.read("a.txt"), redacted)
		s.ok(s.Mode(bg, "none"))
		s.want(s.read("a.txt", 45, 10), part(text, 45, 54))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		// A claim that was rewritten may say anything now.
		s.ok(s.Mode(bg, "redact", "read"))
		s.want(s.read("a.txt"), "[readcache: unchanged, 101 lines]\n[rewritten by t-mode]")
		s.ok(s.Mode(bg, "none"))
		s.want(s.read("a.txt"), text)
	})
}

// Class 22, "recorded in memory, but the result was never appended": pi dies between the two.
func TestLie22_NeverAppended(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		s := &stage{Pi: start(t, realpi.Options{Line: line}), t: t, dir: "."}
		text, other := numbered(100), strings.ToUpper(numbered(50))
		s.write("a.txt", text)
		s.write("b.txt", other)
		s.want(s.read("b.txt"), other)
		s.ok(s.Mode(bg, "delay=60000", "read"))
		_, err := s.Prompt(bg, "read", scripted.Do(scripted.Read("a.txt")))
		s.ok(err)
		s.stored(text)
		s.Pi = pitest.Restart(t, s.Pi, true)
		s.want(s.read("a.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("b.txt"), "unchanged, 51 lines")
	})
}

// Class 23, "parallel reads in one turn: the first fails, the second refers to it".
func TestLie23_ParallelReads(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		read, missing := scripted.Read(s.path("a.txt")), scripted.Read(s.path("missing.txt"))
		s.ok(s.Mode(bg, "fliperror"))
		for _, got := range s.batch(read, read) {
			s.want(got, text)
		}
		s.ok(s.Mode(bg, "none"))
		got := s.batch(missing, read, read, scripted.ReadRange(s.path("a.txt"), 10, 20))
		s.wantPart(got[0], "ENOENT")
		s.want(got[1], text)
		s.want(got[2], text)
		s.want(got[3], part(text, 10, 29))
		got = s.batch(missing, read)
		s.wantPart(got[0], "ENOENT")
		s.wantStub(got[1], "unchanged, 101 lines")
	})
}

// Class 23 with a file that changes between a turn and the next: both siblings are compared with
// what the branch has, not with each other.
func TestLie23_ParallelDiffs(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		read := scripted.Read(s.path("a.txt"))
		s.want(s.read("a.txt"), text)
		s.stored(text)
		changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
		for _, got := range s.batch(read, read) {
			s.wantDiff(got, text, changed)
		}
		if got := s.read("a.txt"); got != changed {
			s.wantStub(got, "unchanged, 101 lines")
		}
		s.ok(os.WriteFile(s.abs("a.txt"), []byte(text), 0o644))
		if got := s.read("a.txt"); got != text {
			s.wantDiff(got, changed, text)
		}
	})
}
