package linediff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git runs the git binary in a folder of its own, away from the user's settings.
type git struct {
	tb  testing.TB
	dir string
}

func newGit(tb testing.TB) git {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		tb.Skip("no git")
	}
	return git{tb, tb.TempDir()}
}

func (g git) write(name string, data []byte) {
	g.tb.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, name), data, 0o600); err != nil {
		g.tb.Fatal(err)
	}
}

func (g git) command(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(g.dir), "GIT_DIR=", "LC_ALL=C")
	cmd.Env = withoutEnv(cmd.Env, "GIT_DIR=")
	return cmd
}

// withoutEnv drops a variable: an empty GIT_DIR is not the same as none.
func withoutEnv(env []string, prefix string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, prefix) {
			out = append(out, kv)
		}
	}
	return out
}

// diff returns what git says about two files, from the first file header on.
func (g git) diff(a, b string) string {
	g.tb.Helper()
	out, err := g.command("diff", "--no-index", "--no-color", "--text", a, b).Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		g.tb.Fatalf("git diff: %v", err)
	}
	_, text, _ := strings.Cut(string(out), "\n--- ")
	return "--- " + text
}

// tally counts the removed and added lines of a diff.
func tally(diff string) (removed, added int) {
	for line := range strings.Lines(body(diff)) {
		switch line[0] {
		case '-':
			removed++
		case '+':
			added++
		}
	}
	return removed, added
}

// body returns a diff without its file headers.
func body(diff string) string {
	if i := strings.Index(diff, "\n@@ -"); i >= 0 {
		return diff[i+1:]
	}
	return ""
}

// At most 5 % more changed lines than git on programs, and never a longer diff in
// bytes by more than that.
func TestSizeAgainstGit(t *testing.T) {
	g := newGit(t)
	for _, n := range []int{100, 2000, 12000} {
		for _, percent := range []int{1, 10, 50, 90} {
			t.Run(fmt.Sprintf("%d lines %d percent", n, percent), func(t *testing.T) {
				base, current := editedProgram(n, percent)
				g.write("a", base)
				g.write("b", current)
				theirs := body(g.diff("a", "b"))
				ours := body(unified(t, base, current).Text)
				r1, a1 := tally(theirs)
				r2, a2 := tally(ours)
				t.Logf("changed lines %d (git %d), bytes %d (git %d)", r2+a2, r1+a1, len(ours), len(theirs))
				if float64(r2+a2) > 1.05*float64(r1+a1) {
					t.Errorf("%d changed lines, git has %d", r2+a2, r1+a1)
				}
				if float64(len(ours)) > 1.05*float64(len(theirs)) {
					t.Errorf("%d bytes, git has %d", len(ours), len(theirs))
				}
			})
		}
	}
}

// git apply accepts the diffs and gets the same version out of them. It is a reader
// of hunk headers that is not ours.
func TestGitApplies(t *testing.T) {
	g := newGit(t)
	rng := rand.New(rand.NewPCG(5, 5))
	type pair struct{ base, current string }
	var pairs []pair
	for _, c := range goldens {
		pairs = append(pairs, pair{c.base, c.current})
	}
	for i := range 40 {
		lines := drawn(rng, rng.IntN(40)+1, 8)
		base, current := join(lines), join(shuffledSome(rng, lines))
		if i%3 == 1 {
			base = bytes.TrimSuffix(base, []byte("\n"))
		}
		if i%4 == 1 {
			current = bytes.TrimSuffix(current, []byte("\n"))
		}
		pairs = append(pairs, pair{string(base), string(current)})
	}
	applied := 0
	for i, c := range pairs {
		d := unified(t, []byte(c.base), []byte(c.current))
		if d.Text == "" || c.current == "" || c.base == "" {
			continue // git treats an empty side as a file made or deleted
		}
		g.write("file.txt", []byte(c.base))
		g.write("p.diff", []byte(d.Text))
		if out, err := g.command("apply", "--whitespace=nowarn", "p.diff").CombinedOutput(); err != nil {
			t.Errorf("pair %d: git apply: %v\n%s%s", i, err, out, d.Text)
			continue
		}
		got, err := os.ReadFile(filepath.Join(g.dir, "file.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.current {
			t.Errorf("pair %d: git apply gave %q, want %q", i, got, c.current)
		}
		applied++
	}
	if applied < 30 {
		t.Errorf("only %d diffs tried", applied)
	}
}

// shuffledSome returns lines with a few of them exchanged, dropped or new.
func shuffledSome(rng *rand.Rand, lines []string) []string {
	out := edit(rng, lines, 15)
	if len(out) > 1 {
		i, j := rng.IntN(len(out)), rng.IntN(len(out))
		out[i], out[j] = out[j], out[i]
	}
	return append(out, "end\n")
}

func unified(tb testing.TB, base, current []byte) Diff {
	tb.Helper()
	d, err := Unified(context.Background(), "file.txt", base, current)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// Where the cost cap ends the search for a minimum, the answer must still be about as
// good as git's, which stops early too. Read backwards, the same versions need the
// backward paths for what they needed the forward paths for.
func TestCappedSizeAgainstGit(t *testing.T) {
	g := newGit(t)
	for name, c := range adversaries(rand.New(rand.NewPCG(4, 4)), 4000) {
		for _, turned := range []bool{false, true} {
			a, b := c[0], c[1]
			if turned {
				a, b = reversed(a), reversed(b)
			}
			t.Run(fmt.Sprintf("%s, turned %v", name, turned), func(t *testing.T) {
				g.write("a", join(a))
				g.write("b", join(b))
				r1, a1 := tally(g.diff("a", "b"))
				r2, a2 := tally(unified(t, join(a), join(b)).Text)
				if float64(r2+a2) > 1.1*float64(r1+a1) {
					t.Errorf("%d changed lines, git has %d", r2+a2, r1+a1)
				}
			})
		}
	}
}
