// Package conformance holds checks of the project as a whole. Its folders hold the real pi, the
// scripted model and the end-to-end scenarios; none of them knows how the engine works.
package conformance

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	rule     = regexp.MustCompile(`(?m)^- \*\*(\d+\.\d+)\*\*`)
	citation = regexp.MustCompile(`spec ((?:\d+\.\d+(?:–\d+\.\d+)?(?:, | and )?)+)`)
	number   = regexp.MustCompile(`\d+\.\d+`)
)

// TestEveryRuleHasATest holds docs/spec.md against the tests that cite it.
func TestEveryRuleHasATest(t *testing.T) {
	spec, err := os.ReadFile("../docs/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]bool{}
	for _, m := range rule.FindAllStringSubmatch(string(spec), -1) {
		if rules[m[1]] {
			t.Errorf("docs/spec.md has two rules %s", m[1])
		}
		rules[m[1]] = true
	}
	if len(rules) < 50 {
		t.Fatalf("docs/spec.md has %d rules; the test cannot read it", len(rules))
	}
	tested, cited := citations(t)
	for _, n := range slices.Sorted(maps.Keys(rules)) {
		if len(tested[n]) == 0 {
			t.Errorf("no test cites rule %s of docs/spec.md (// spec %s)", n, n)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(cited)) {
		if !rules[n] {
			t.Errorf("%s: spec %s is no rule of docs/spec.md", cited[n][0], n)
		}
	}
}

// citations returns the places that cite a rule: those in tests, and all of them.
func citations(t *testing.T) (tested, cited map[string][]string) {
	t.Helper()
	tested, cited = map[string][]string{}, map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "node_modules" || (strings.HasPrefix(name, ".") && path != "..") {
				return fs.SkipDir
			}
			return nil
		}
		inTest := strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".test.ts") || strings.Contains(path, "testdata/")
		if !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".ts") && !inTest {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range citation.FindAllStringSubmatch(string(raw), -1) {
			for _, n := range number.FindAllString(m[1], -1) {
				cited[n] = append(cited[n], path)
				if inTest && name != "rules_test.go" {
					tested[n] = append(tested[n], path)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tested, cited
}
