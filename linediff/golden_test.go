package linediff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldens are diffs written by hand. In want, the two header lines are left out.
var goldens = []struct {
	name          string
	base, current string
	want          string
	changed       int
}{
	{"equal", "a\nb\n", "a\nb\n", "", 0},
	{"both empty", "", "", "", 0},
	{
		"one line replaced", "a\n", "b\n", `
@@ -1,1 +1,1 @@
-a
+b
`, 1,
	},
	{
		"into an empty file", "", "a\nb\n", `
@@ -0,0 +1,2 @@
+a
+b
`, 2,
	},
	{
		"everything removed", "a\nb\n", "", `
@@ -1,2 +0,0 @@
-a
-b
`, 2,
	},
	{
		"three lines of context", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", `
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+five
 6
 7
 8
`, 1,
	},
	{
		"first line inserted", "1\n2\n3\n4\n", "0\n1\n2\n3\n4\n", `
@@ -1,3 +1,4 @@
+0
 1
 2
 3
`, 1,
	},
	{
		"last line removed", "1\n2\n3\n4\n5\n", "1\n2\n3\n4\n", `
@@ -2,4 +2,3 @@
 2
 3
 4
-5
`, 1,
	},
	{
		"six unchanged lines join two changes", "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n", `
@@ -1,8 +1,8 @@
-a
+A
 1
 2
 3
 4
 5
 6
-b
+B
`, 2,
	},
	{
		"seven part them", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\nAA\n1\n2\n3\n4\n5\n6\n7\nB\n", `
@@ -1,4 +1,5 @@
-a
+A
+AA
 1
 2
 3
@@ -6,4 +7,4 @@
 5
 6
 7
-b
+B
`, 3,
	},
	{
		"newline at the end lost", "a\nb\n", "a\nb", `
@@ -1,2 +1,2 @@
 a
-b
+b
\ No newline at end of file
`, 1,
	},
	{
		"newline at the end gained", "a\nb", "a\nb\n", `
@@ -1,2 +1,2 @@
 a
-b
\ No newline at end of file
+b
`, 1,
	},
	{
		"no newline on either side, last line changed", "a\nb", "a\nc", `
@@ -1,2 +1,2 @@
 a
-b
\ No newline at end of file
+c
\ No newline at end of file
`, 1,
	},
	{
		"no newline in the context", "a\nb", "A\nb", `
@@ -1,2 +1,2 @@
-a
+A
 b
\ No newline at end of file
`, 1,
	},
	{
		"no newline out of sight", "a\n1\n2\n3\n4", "A\n1\n2\n3\n4", `
@@ -1,4 +1,4 @@
-a
+A
 1
 2
 3
`, 1,
	},
	{
		"text after a last line without newline", "a", "a\nb", `
@@ -1,1 +1,2 @@
-a
\ No newline at end of file
+a
+b
\ No newline at end of file
`, 2,
	},
	{
		"lines that look like diff syntax", "-- x\n++ y\n", "-- x\n@@ -1 +1 @@\n\\ No newline at end of file\n", `
@@ -1,2 +1,3 @@
 -- x
-++ y
+@@ -1 +1 @@
+\ No newline at end of file
`, 2,
	},
	{
		"CR is content", "a\r\nb\n", "a\nb\n", `
@@ -1,2 +1,2 @@
-a` + "\r" + `
+a
 b
`, 1,
	},
	{
		"a new function goes after the brace", "f {\n}\n\nh {\n}\n", "f {\n}\n\ng {\n}\n\nh {\n}\n", `
@@ -1,5 +1,8 @@
 f {
 }
 
+g {
+}
+
 h {
 }
`, 3,
	},
	{
		"a repeated line slides to the end", "x\nx\nx\n", "x\nx\n", `
@@ -1,3 +1,2 @@
 x
 x
-x
`, 1,
	},
	{
		"a slide makes one change of two", "a\nm\nm\nz\n", "A\nm\nz\n", `
@@ -1,4 +1,3 @@
-a
-m
+A
 m
 z
`, 2,
	},
}

func TestGolden(t *testing.T) {
	for _, c := range goldens {
		t.Run(c.name, func(t *testing.T) {
			want := Diff{Changed: c.changed}
			if c.want != "" {
				want.Text = "--- a/file.txt\n+++ b/file.txt" + c.want
				want.Lines = strings.Count(want.Text, "\n")
			}
			got := unified(t, []byte(c.base), []byte(c.current))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			back, err := Apply([]byte(c.base), want.Text)
			if err != nil || string(back) != c.current {
				t.Errorf("Apply: %q, %v, want %q", back, err, c.current)
			}
		})
	}
}

func TestNameCannotBreakHeader(t *testing.T) {
	for name, want := range map[string]string{
		"dir/a b.go":           "dir/a b.go",
		"später/日本":            "später/日本",
		"a\nb":                 "a\ufffdb",
		"a\r\n@@ -1,1 +1,1 @@": "a\ufffd\ufffd@@ -1,1 +1,1 @@",
		"a\tb\x00c\x7f":        "a\ufffdb\ufffdc\ufffd",
		"a\u0085b\u2028c":      "a\ufffdb\ufffdc",
		"a\u202egnp.exe":       "a\ufffdgnp.exe",
		"bad\xff":              "bad\ufffd",
		"":                     "",
	} {
		base, current := []byte("x\n"), []byte("y\n")
		d, err := Unified(t.Context(), name, base, current)
		if err != nil {
			t.Fatal(err)
		}
		head := "--- a/" + want + "\n+++ b/" + want + "\n@@ -1,1 +1,1 @@\n"
		if !strings.HasPrefix(d.Text, head) || d.Lines != 5 {
			t.Errorf("name %q: %d lines, got %q, want it to start %q", name, d.Lines, d.Text, head)
		}
		roundTripOf(t, base, current, d)
	}
}
