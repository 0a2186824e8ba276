package oracle

import (
	"strings"
	"testing"
)

func TestPatch(t *testing.T) {
	const head = "--- a/f\n+++ b/f\n"
	const noEnd = "\\ No newline at end of file\n"
	for name, c := range map[string]struct {
		base, diff, want string
		changed          int
		err              string // of parsing or applying
	}{
		"replace":           {"a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", "a\nx\nc\n", 1, ""},
		"two hunks":         {"a\nb\nc\nd\ne\n", "@@ -1,1 +1,2 @@\n a\n+x\n@@ -4,2 +5,1 @@\n d\n-e\n", "a\nx\nb\nc\nd\n", 2, ""},
		"two places":        {"a\nb\nc\n", "@@ -1,3 +1,4 @@\n-a\n+x\n+y\n b\n-c\n+z\n", "x\ny\nb\nz\n", 3, ""},
		"counts left out":   {"a\n", "@@ -1 +1 @@\n-a\n+b\n", "b\n", 1, ""},
		"from empty":        {"", "@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n", 2, ""},
		"to empty":          {"a\nb", "@@ -1,2 +0,0 @@\n-a\n-b\n" + noEnd, "", 2, ""},
		"newline added":     {"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n" + noEnd + "+b\n", "a\nb\n", 1, ""},
		"newline removed":   {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n" + noEnd, "a\nb", 1, ""},
		"no newline kept":   {"a\nb\nc", "@@ -1,3 +1,3 @@\n-a\n+x\n b\n c\n" + noEnd, "x\nb\nc", 1, ""},
		"carriage return":   {"a\r\n", "@@ -1,1 +1,1 @@\n-a\r\n+a\n", "a\n", 1, ""},
		"looks like a head": {"-- a/f\n", "@@ -1,1 +1,1 @@\n--- a/f\n+++ b/f\n", "++ b/f\n", 1, ""},
		"other context":     {"a\nb\n", "@@ -1,2 +1,2 @@\n x\n-b\n+c\n", "", 1, "takes line 1"},
		"other place":       {"x\na\n", "@@ -1,1 +1,1 @@\n-a\n+c\n", "", 1, "takes line 1"},
		"past the end":      {"a\n", "@@ -1,2 +1,1 @@\n a\n-b\n", "", 1, "after the last line"},
		"far past the end":  {"a\n", "@@ -9,1 +9,1 @@\n-a\n+b\n", "", 1, "out of place"},
		"backwards":         {"a\nb\n", "@@ -2,1 +2,1 @@\n-b\n+x\n@@ -1,1 +1,1 @@\n-a\n+y\n", "", 2, "out of place"},
		"wrong new place":   {"a\nb\n", "@@ -2,1 +1,1 @@\n-b\n+x\n", "", 1, "another place of the new"},
		"newline missing":   {"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "", 1, "takes line 2"},
		"newline too many":  {"a\nb\n", "@@ -1,1 +1,1 @@\n-a\n+x\n" + noEnd, "", 1, "in the middle"},
		"wrong count":       {"a\n", "@@ -1,1 +1,2 @@\n-a\n+x\n", "", 0, "ends early"},
		"count too small":   {"a\n", "@@ -1,1 +1,1 @@\n-a\n+x\n+y\n", "", 0, "where a hunk should begin"},
		"crossed counts":    {"a\n", "@@ -1,1 +1,1 @@\n-a\n-b\n+x\n", "", 0, "other counts"},
		"garbage in a hunk": {"a\n", "@@ -1,1 +1,1 @@\n*a\n", "", 0, "has a line"},
		"an empty line":     {"a\n", "@@ -1,1 +1,1 @@\n\n", "", 0, "has a line"},
		"another backslash": {"a\n", "@@ -1,1 +1,1 @@\n\\ a\n", "", 0, "has a line"},
		"nothing":           {"a\n", "", "", 0, "cut off"},
		"no last newline":   {"a\n", "@@ -1,1 +1,1 @@\n-a\n+x", "", 0, "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := parsePatch(head + c.diff)
			if err != nil {
				if c.err == "" || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
				return
			}
			got, bad := p.apply(c.base)
			if bad != nil {
				if c.err == "" || !strings.Contains(bad.why, c.err) {
					t.Fatalf("%v, want %q", bad, c.err)
				}
				return
			}
			if got != c.want || c.err != "" || p.changed != c.changed {
				t.Errorf("%q, %d changed; want %q, %d, error %q", got, p.changed, c.want, c.changed, c.err)
			}
		})
	}
	for _, diff := range []string{"", "--- a/f\n", "--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "--- f\n+++ f\n"} {
		if _, err := parsePatch(diff); err == nil || !strings.Contains(err.Error(), "no headers") {
			t.Errorf("%q: %v", diff, err)
		}
	}
}
