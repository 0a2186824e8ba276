package session

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"deja/trust"
)

// TestScripts runs the scripts in testdata. A script is a session read aloud: each line is an entry,
// child of the line before it, or a question about the branch that ends in the last entry.
//
//	user <id>
//	assistant <id> <call>=<path> ...                the message with the calls of read
//	result <id> <call> <path> <scope> <mode> served=H2 [base=H1] lines=N [saved=N]
//	unproven <id> <call> [<path>]                   a read result that nothing vouches for; its metadata names a path
//	failed <id> <call>                              an error
//	tool <id>                                       the result of another tool
//	compact <id>
//	refresh <id> <path> <scope>
//	omit <id> <entry>, replace <id> <entry>         context edits
//	other <id>                                      labels, changes of model and so on
//	at <id>                                         go there: the next entry is its child; "at root" is before all
//	under <parent> <entry line>                     an entry with that parent, whether it exists or not
//
//	base <path> [<a>-<b>] current=H                 what a claim could refer to
//	repeat, stats, entries                          the rest of the state
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			t.Skip("left there by a failed property test")
		}
		s := &script{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "session" {
				s = &script{t: t, tree: New()}
			}
			var out strings.Builder
			for line := range strings.SplitSeq(strings.TrimSpace(d.Input), "\n") {
				if answer := s.line(strings.Fields(line)); answer != "" {
					fmt.Fprintln(&out, answer)
				}
			}
			return out.String()
		})
	})
}

type script struct {
	t    *testing.T
	tree *Tree
	leaf string
}

// line does one line. An entry that is taken says nothing.
func (s *script) line(f []string) string {
	s.t.Helper()
	switch f[0] {
	case "at":
		if f[1] == "root" {
			s.leaf = ""
			return ""
		}
		if _, err := s.tree.At(f[1]); err != nil {
			return "error: " + err.Error()
		}
		s.leaf = f[1]
		return ""
	case "base", "repeat", "stats", "entries":
		return s.ask(f)
	}
	parent := s.leaf
	if f[0] == "under" {
		parent, f = f[1], f[2:]
	}
	e := entryOf(s.t, f)
	e.Parent = parent
	if err := s.tree.Add(e); err != nil {
		return "error: " + err.Error()
	}
	s.leaf = e.ID
	return ""
}

func (s *script) ask(f []string) string {
	at, err := s.tree.At(s.leaf)
	if err != nil {
		return "error: " + err.Error()
	}
	switch f[0] {
	case "repeat":
		return fmt.Sprintf("%d claims for %s %s", at.Repeat.N, at.Repeat.Path, at.Repeat.Scope)
	case "stats":
		return strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%+v", at.Stats), "{"), "}")
	case "entries":
		return strconv.Itoa(s.tree.Len())
	}
	arg, opt := words(f[1:])
	base, ok := at.Trust.Entire(arg[0], opt["current"])
	if len(arg) == 2 {
		from, to, _ := strings.Cut(arg[1], "-")
		base, ok = at.Trust.Range(arg[0], number(s.t, from), number(s.t, to), opt["current"])
	}
	if !ok {
		return "no base"
	}
	return "base " + base.Hash
}

func entryOf(t *testing.T, f []string) Entry {
	t.Helper()
	arg, opt := words(f[1:])
	e := Entry{}
	if len(arg) > 0 {
		e.ID = arg[0]
	}
	switch f[0] {
	case "user":
		e.Kind = User
	case "assistant":
		e.Kind = Assistant
		for _, w := range f[2:] {
			call, path, _ := strings.Cut(w, "=")
			e.Calls = append(e.Calls, Call{ID: call, Paths: []string{path}})
		}
	case "result":
		e.Kind, e.IsRead, e.CallID = Result, true, arg[1]
		e.Read = &trust.Read{Path: arg[2], Scope: scopeOf(t, arg[3]), Mode: trust.Mode(arg[4]), Served: opt["served"], Base: opt["base"], Lines: number(t, opt["lines"])}
		if opt["saved"] != "" {
			e.Saved = int64(number(t, opt["saved"]))
		}
	case "unproven":
		e.Kind, e.IsRead, e.CallID, e.Paths = Result, true, arg[1], arg[2:]
	case "failed":
		e.Kind, e.IsRead, e.Failed, e.CallID = Result, true, true, arg[1]
	case "tool":
		e.Kind = Result
	case "compact":
		e.Kind = Compaction
	case "refresh":
		e.Kind, e.Path, e.Scope = Invalidation, arg[1], scopeOf(t, arg[2])
	case "omit", "replace":
		e.Kind, e.Target, e.Omit = Edit, arg[1], f[0] == "omit"
	case "other":
	default:
		t.Fatalf("unknown line %v", f)
	}
	return e
}

func words(f []string) (arg []string, opt map[string]string) {
	opt = map[string]string{}
	for _, w := range f {
		if k, v, ok := strings.Cut(w, "="); ok {
			opt[k] = v
		} else {
			arg = append(arg, w)
		}
	}
	return arg, opt
}

func number(t *testing.T, v string) int {
	t.Helper()
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func scopeOf(t *testing.T, v string) trust.Scope {
	t.Helper()
	s, err := trust.ParseScope(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// spec 5.6: what Add refuses changes nothing, and says what it is.
func TestAddRefuses(t *testing.T) {
	tree := New()
	if err := tree.Add(Entry{ID: "u1", Kind: User}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		entry Entry
		want  error
	}{
		{Entry{ID: "u1", Kind: Compaction}, ErrDuplicate},
		{Entry{ID: "", Kind: User}, ErrNoID},
	} {
		if err := tree.Add(c.entry); !errors.Is(err, c.want) {
			t.Errorf("Add(%q) = %v, want %v", c.entry.ID, err, c.want)
		}
	}
	if tree.Len() != 1 || !tree.Has("u1") || tree.Has("") || tree.Has("u2") {
		t.Errorf("%d entries, has u1: %v", tree.Len(), tree.Has("u1"))
	}
	if _, err := tree.At("u2"); !errors.Is(err, ErrUnknown) {
		t.Errorf("At an unknown leaf: %v, want ErrUnknown", err)
	}
}
