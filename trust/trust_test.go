package trust

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs the scripts in testdata. A script is a branch read aloud, one event a line:
//
//	read  <path> <scope> <mode> served=H2 [base=H1] lines=N [text=D]
//	invalidate <path> <scope>
//	doubt <path>
//	compact
//
// and questions about what may be claimed now:
//
//	range  <path> <start>-<end> current=H
//	entire <path> current=H
//
// Each line prints what came of it; "state" prints the slots of every path.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s State
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				s = State{}
			}
			var out strings.Builder
			for line := range strings.SplitSeq(strings.TrimSpace(d.Input), "\n") {
				if line == "" {
					continue
				}
				fmt.Fprintf(&out, "%s\n", step(t, &s, strings.Fields(line)))
			}
			return out.String()
		})
	})
}

func step(t *testing.T, s *State, f []string) string {
	t.Helper()
	opt := map[string]string{}
	var arg []string
	for _, w := range f[1:] {
		if k, v, ok := strings.Cut(w, "="); ok {
			opt[k] = v
		} else {
			arg = append(arg, w)
		}
	}
	num := func(v string) int {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		return n
	}
	scope := func(v string) Scope {
		sc, err := ParseScope(v)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		return sc
	}
	answer := func(b Base, ok bool) string {
		switch {
		case !ok:
			return "no base"
		case len(b.Unproven) > 0:
			return fmt.Sprintf("base %s (%d lines), unproven %v", b.Hash, b.Lines, b.Unproven)
		}
		return fmt.Sprintf("base %s (%d lines)", b.Hash, b.Lines)
	}
	switch f[0] {
	case "read":
		next, ok := s.Read(Read{
			Path: arg[0], Scope: scope(arg[1]), Mode: Mode(arg[2]),
			Served: opt["served"], Base: opt["base"], Lines: num(opt["lines"]), Text: opt["text"],
		})
		*s = next
		return map[bool]string{true: "trusted", false: "ignored"}[ok]
	case "invalidate":
		*s = s.Invalidate(arg[0], scope(arg[1]))
		return "forgotten"
	case "doubt":
		*s = s.DoubtWhere(only(arg[0]))
		return "doubted"
	case "compact":
		*s = State{}
		return "empty"
	case "range":
		from, to, _ := strings.Cut(arg[1], "-")
		return answer(s.Range(arg[0], num(from), num(to), opt["current"]))
	case "entire":
		return answer(s.Entire(arg[0], opt["current"]))
	case "state":
		return dump(*s)
	}
	t.Fatalf("unknown step %v", f)
	return ""
}

func dump(s State) string {
	if s.Len() == 0 {
		return "nothing"
	}
	var lines []string
	for it := s.paths.Iterator(); !it.Done(); {
		path, f, _ := it.Next()
		var words []string
		for _, x := range f.slots() {
			words = append(words, fmt.Sprintf("%s=%s@%d", x.scope, x.hash, x.seq))
		}
		for _, d := range f.doubts {
			hi := strconv.Itoa(d.hi)
			if d.hi == endless {
				hi = "end"
			}
			words = append(words, fmt.Sprintf("doubt %d-%s@%d", d.lo, hi, d.seq))
		}
		lines = append(lines, path+": "+strings.Join(words, ", "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// only matches one path.
func only(path string) func(string) bool { return func(p string) bool { return p == path } }
