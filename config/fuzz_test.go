package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Whatever a file holds: no panic, every value within its range, the default
// exclusions in force for a project's file, every problem at a place inside the
// file, and nothing but well-formed text without a problem.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", `{"enabled": false}`, `{"minSaving": -1, "diff": {"byteRatio": 0.5}}`, "{\"a\":1,\n\"a\":2}",
		`{"exclude": ["*.x", "!y", "[", 5, "a/**"], "excludeDefaults": false}`, "// c\n{/* c */}", "\ufeff{}", "{\"\xff\":1}",
		`{"store": {"maxBytes": 1e300}}`, `{"exclude": "x"}`, `{"exclude": {"a": []}}`, "{\"a\u2028\": \"\n\"}", `{"\ud800": 1}`,
		"{\n// \u2028\n}", `{"diff": {"diff": {}}}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, user bool) {
		given := bytes.Clone(text)
		l := newLoader()
		l.apply("file", user, text)
		l.finishExcludes()
		if !bytes.Equal(text, given) {
			t.Fatal("the input was changed")
		}
		c := l.cfg
		if c.MinSaving < -1 || c.MinSaving > 1<<20 || c.MaxFileBytes < 0 || c.MaxFileBytes > 1<<30 ||
			c.Diff.MaxBytes < 0 || c.Diff.MaxBytes > 64<<20 || c.Diff.MaxLines < 0 || c.Diff.MaxLines > 1e6 ||
			!(c.Diff.ByteRatio >= 0.01 && c.Diff.ByteRatio <= 1) || !(c.Diff.LineRatio >= 0.01 && c.Diff.LineRatio <= 1) ||
			c.Store.MaxBytes < 1<<20 || c.Store.MaxBytes > 1<<40 || c.Store.MaxAgeDays < 1 || c.Store.MaxAgeDays > 3650 {
			t.Fatalf("out of range: %+v", c)
		}
		if !user || l.unsafe {
			for _, p := range DefaultExcludes() {
				if !slices.Contains(c.Exclude, p) {
					t.Fatalf("%q is not in force", p)
				}
			}
		}
		for _, p := range c.Exclude {
			if checkPattern(p) != "" {
				t.Fatalf("bad pattern in force: %q", p)
			}
		}
		c.Excluded("/some/file.go", "/project/.env")
		lines := bytes.Split(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n"))
		for _, p := range l.problems {
			if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len(lines[p.Line-1])+1 {
				t.Fatalf("not inside the file: %v", p)
			}
			if p.Message == "" || strings.ContainsAny(p.String(), "\n\r\x00\x1b") {
				t.Fatalf("not one printable line: %q", p.String())
			}
		}
		if len(l.problems) == 0 && json.Valid(text) {
			var m map[string]json.RawMessage
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatalf("no problem with %q: %v", text, err)
			}
		}
	})
}
