package textfile

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// spec 2.4
func TestParseTarget(t *testing.T) {
	cwd, home := pathTree(t)
	writeFile(t, filepath.Join(cwd, "b"), "")
	writeFile(t, filepath.Join(cwd, "b:1-2"), "")
	plain := func(path, arg string) Target { return Target{Path: path, Arg: arg} }
	lines := func(path, arg string, offset, limit int) Target {
		return Target{Path: path, Arg: arg, Offset: &offset, Limit: &limit, FromSuffix: true}
	}
	for _, c := range []struct {
		raw  string
		want Target
	}{
		{"d/a", plain(cwd+"/d/a", "d/a")},
		{"d/a:7", lines(cwd+"/d/a", "d/a", 7, 1)}, // rule 3: one line
		{"d/a:5-9", lines(cwd+"/d/a", "d/a", 5, 5)},
		{"d/a:5-5", lines(cwd+"/d/a", "d/a", 5, 1)},
		{"d/a:007-010", lines(cwd+"/d/a", "d/a", 7, 4)},
		{"d/a:9007199254740991", lines(cwd+"/d/a", "d/a", 1<<53-1, 1)},
		{"@d/a:2", lines(cwd+"/d/a", "@d/a", 2, 1)},
		{"~/a:2-3", lines(home+"/a", "~/a", 2, 2)},
		{cwd + "/d/a:2", lines(cwd+"/d/a", cwd+"/d/a", 2, 1)},
		{"café.txt:2", lines(cwd+"/cafe\u0301.txt", "café.txt", 2, 1)}, // variants count as existing
		{"d:3", lines(cwd+"/d", "d", 3, 1)},                            // pi will say that it is a folder
		{"a:3", plain(cwd+"/a:3", "a:3")},                              // rule 2: such a file exists
		{"a:3:4", lines(cwd+"/a:3", "a:3", 4, 1)},
		{"b:1-2", plain(cwd+"/b:1-2", "b:1-2")}, // rule 5
		{"b:1-3", lines(cwd+"/b", "b", 1, 3)},
		{"b:2-1:0", plain(cwd+"/b:2-1:0", "b:2-1:0")},
		// Rule 4: nothing there, so the suffix is not judged either.
		{"missing:3", plain(cwd+"/missing:3", "missing:3")},
		{"missing:9-3", plain(cwd+"/missing:9-3", "missing:9-3")},
		{"dangling:3", plain(cwd+"/dangling:3", "dangling:3")},
		{":3", plain(cwd+"/:3", ":3")},
		{"@:3", plain(cwd+"/:3", "@:3")},
		// Not range suffixes.
		{"b:", plain(cwd+"/b:", "b:")},
		{"b:x", plain(cwd+"/b:x", "b:x")},
		{"b:-3", plain(cwd+"/b:-3", "b:-3")},
		{"b:3-", plain(cwd+"/b:3-", "b:3-")},
		{"b:3-4-5", plain(cwd+"/b:3-4-5", "b:3-4-5")},
		{"b:+3", plain(cwd+"/b:+3", "b:+3")},
		{"b:3 ", plain(cwd+"/b:3 ", "b:3 ")},
		{"b:٣", plain(cwd+"/b:٣", "b:٣")},
		{"b:1.5", plain(cwd+"/b:1.5", "b:1.5")},
		{"b:1-2\n", plain(cwd+"/b:1-2\n", "b:1-2\n")},
		{"b\x00:3", plain(cwd+"/b\x00:3", "b\x00:3")},
	} {
		for _, d := range []Dialect{Pi073, Pi087} {
			got, err := ParseTarget(c.raw, nil, nil, cwd, home, d)
			if err != nil {
				t.Errorf("ParseTarget(%q): %v", c.raw, err)
			} else if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ParseTarget(%q) (-want +got):\n%s", c.raw, diff)
			}
		}
	}
	// Rule 1: explicit numbers win, whatever they are.
	for _, c := range []struct{ offset, limit *int }{{ref(1), nil}, {nil, ref(0)}, {ref(-1), ref(9)}} {
		got, err := ParseTarget("b:1-3", c.offset, c.limit, cwd, home, Pi087)
		want := Target{Path: cwd + "/b:1-3", Arg: "b:1-3", Offset: c.offset, Limit: c.limit}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("explicit numbers: %v (-want +got):\n%s", err, diff)
		}
	}
	url := "file://" + cwd + "/x%20y"
	got, err := ParseTarget(url+":4", nil, nil, cwd, home, Pi087)
	if diff := cmp.Diff(lines(cwd+"/x y", url, 4, 1), got); err != nil || diff != "" {
		t.Errorf("URL: %v (-want +got):\n%s", err, diff)
	}
}

// spec 2.4, validation
func TestParseTargetRangeError(t *testing.T) {
	cwd, home := pathTree(t)
	for raw, says := range map[string]string{
		"d/a:0": "counted from 1", "d/a:0-4": "counted from 1", "d/a:1-0": "counted from 1", "d/a:00": "counted from 1",
		"d/a:9-3": "end 3 is before start 9", "@d/a:2-1": "end 1 is before start 2",
		"d/a:9007199254740992": "too large", "d/a:1-99999999999999999999999": "too large",
	} {
		_, err := ParseTarget(raw, nil, nil, cwd, home, Pi087)
		var bad *RangeError
		if !errors.As(err, &bad) {
			t.Errorf("ParseTarget(%q) = %v, want a RangeError", raw, err)
			continue
		}
		for _, part := range []string{says, "path:start-end", raw[strings.LastIndex(raw, ":"):]} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("ParseTarget(%q): %q does not say %q", raw, err, part)
			}
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	dir := f.TempDir()
	for _, seed := range []string{"a:1-2", "a", "@a:3", "~/x:0", "a:9-1", "file:///a:3", "file://%", ":1", "a\x00:2", "a:99999999999999999999", "é'\u202f:1", "/:1"} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, raw string, newer bool) {
		d := Pi073
		if newer {
			d = Pi087
		}
		got, err := ParseTarget(raw, nil, nil, dir, dir, d)
		if err != nil {
			var bad *RangeError
			if !errors.As(err, &bad) || !strings.HasSuffix(raw, bad.Suffix) {
				t.Fatalf("ParseTarget(%q): %v", raw, err)
			}
			return
		}
		if got.Path != Resolve(got.Arg, dir, dir, d) {
			t.Fatalf("ParseTarget(%q): path %q is not that of %q", raw, got.Path, got.Arg)
		}
		if got.Path != "" && got.Path[0] != '/' {
			t.Fatalf("ParseTarget(%q): relative path %q", raw, got.Path)
		}
		switch {
		case !got.FromSuffix:
			if got.Arg != raw || got.Offset != nil || got.Limit != nil {
				t.Fatalf("ParseTarget(%q) changed the arguments: %+v", raw, got)
			}
		case *got.Offset < 1 || *got.Limit < 1 || !strings.HasPrefix(raw, got.Arg+":") || !exists(got.Path):
			t.Fatalf("ParseTarget(%q) = %+v", raw, got)
		}
	})
}
