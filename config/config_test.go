package config

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var ignorePlaces = cmpopts.IgnoreUnexported(Config{})

// setup writes the two files; an empty text means no file.
func setup(t testing.TB, user, project string) (projectDir, home string) {
	t.Helper()
	projectDir, home = t.TempDir(), t.TempDir()
	for name, text := range map[string]string{UserFile(home): user, ProjectFile(projectDir): project} {
		if text == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return projectDir, home
}

// load returns the problems with the folders replaced by U and P.
func load(t testing.TB, user, project string) (Config, []string) {
	t.Helper()
	projectDir, home := setup(t, user, project)
	c, problems := Load(projectDir, home)
	var lines []string
	for _, p := range problems {
		s := strings.ReplaceAll(p.String(), UserFile(home), "U")
		lines = append(lines, strings.ReplaceAll(s, ProjectFile(projectDir), "P"))
	}
	return c, lines
}

func with(change func(c *Config)) Config {
	c := Default()
	change(&c)
	return c
}

func TestDefault(t *testing.T) {
	want := Config{
		Enabled: true, MinSaving: 1, MaxFileBytes: 33554432,
		Exclude: strings.Fields(".env* *.pem *.key *.p12 *.pfx *.crt *.cer *.der *.pk8 id_rsa id_ed25519 .npmrc .netrc"),
		Diff:    Diff{2097152, 12000, 0.9, 0.85},
		Store:   Store{268435456, 30},
	}
	if diff := cmp.Diff(want, Default(), ignorePlaces); diff != "" {
		t.Error(diff)
	}
	if got := Default().Store.MaxAge(); got != 720*time.Hour {
		t.Errorf("MaxAge = %v", got)
	}
	for _, c := range []func() (Config, []Problem){
		func() (Config, []Problem) { return Load(t.TempDir(), t.TempDir()) },
		func() (Config, []Problem) { return Load("", "") },
		func() (Config, []Problem) { return Load("/no/such/folder", "/no/such/home") },
	} {
		got, problems := c()
		if diff := cmp.Diff(want, got, ignorePlaces); diff != "" || len(problems) != 0 {
			t.Error(diff, problems)
		}
	}
}

// What is accepted without a word.
func TestLoadGood(t *testing.T) {
	plus := func(patterns ...string) []string { return append(DefaultExcludes(), patterns...) }
	tests := []struct {
		name, user, project string
		want                Config
	}{
		{name: "empty objects", user: "{}", project: " {\n} ", want: Default()},
		{
			name: "everything", user: `{"$schema": "x", "enabled": false, "minSaving": -1, "exclude": ["a"],
				"excludeDefaults": false, "maxFileBytes": 0, "diff": {"maxBytes": 1, "maxLines": 2, "byteRatio": 0.01, "lineRatio": 1},
				"store": {"maxBytes": 1048576, "maxAgeDays": 3650}}`,
			want: Config{
				MinSaving: -1, Exclude: []string{"a"}, Diff: Diff{1, 2, 0.01, 1}, Store: Store{1 << 20, 3650},
			},
		},
		{
			name: "project over user, key by key",
			user: `{"enabled": false, "minSaving": 5, "diff": {"maxLines": 7, "maxBytes": 8}}`, project: `{"enabled": true, "diff": {"maxLines": 9}}`,
			want: with(func(c *Config) { c.MinSaving, c.Diff.MaxLines, c.Diff.MaxBytes = 5, 9, 8 }),
		},
		{
			name: "exclusions add up, each once",
			user: `{"exclude": ["u", "*.pem", "both"]}`, project: `{"exclude": ["both", "p"]}`,
			want: with(func(c *Config) { c.Exclude = plus("u", "both", "p") }),
		},
		{
			name: "the user may drop the defaults", user: `{"excludeDefaults": false, "exclude": ["u"]}`, project: `{"exclude": ["p"]}`,
			want: with(func(c *Config) { c.Exclude = []string{"u", "p"} }),
		},
		{name: "drop all", user: `{"excludeDefaults": false}`, want: with(func(c *Config) { c.Exclude = nil })},
		{name: "the project may want them back", user: `{"excludeDefaults": false}`, project: `{"excludeDefaults": true}`, want: Default()},
		{
			name: "comments, commas, byte order mark, no final newline",
			user: "\ufeff// first { [ \"\n{ /* \" */ \"minSaving\": 2, // it's\r\n \"exclude\": [\"a/*.x\", \"*/b\", ], } // end",
			want: with(func(c *Config) { c.MinSaving, c.Exclude = 2, plus("a/*.x", "*/b") }),
		},
		{
			name: "numbers written differently", user: `{"minSaving": 2.0, "diff": {"maxBytes": 2e6, "byteRatio": 5e-1}}`,
			want: with(func(c *Config) { c.MinSaving, c.Diff.MaxBytes, c.Diff.ByteRatio = 2, 2000000, 0.5 }),
		},
		{name: "escapes in names", user: "{\"min\\u0053aving\": 3}", want: with(func(c *Config) { c.MinSaving = 3 })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := load(t, tt.user, tt.project)
			if len(problems) != 0 {
				t.Errorf("problems: %v", problems)
			}
			if diff := cmp.Diff(tt.want, got, ignorePlaces); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every mistake is named by place, and the default (or the user's value) holds.
func TestLoadProblems(t *testing.T) {
	plus := func(patterns ...string) func(*Config) {
		return func(c *Config) { c.Exclude = append(DefaultExcludes(), patterns...) }
	}
	same := func(*Config) {}
	tests := []struct {
		name, user, project string
		want                []string
		change              func(*Config)
	}{
		// The file as a whole.
		{"syntax", "{\n  \"minSaving\": 1\n  \"enabled\": true\n}", "", []string{
			`U:3:3: the file is not valid JSON: invalid character '"' after object value (expecting ',' or '}'); the default settings are in force`,
		}, same},
		{"syntax in the project's file", `{"minSaving": 7}`, "{\"é\" x}", []string{
			`P:1:6: the file is not valid JSON: invalid character 'x' after object name; the settings without it are in force`,
		}, func(c *Config) { c.MinSaving = 7 }},
		{"cut off", "{\"minSaving\": ", "", []string{
			`U:1:15: the file is not valid JSON: parsing value: unexpected EOF; the default settings are in force`,
		}, same},
		{"open string", "{\n\"minSaving: 1}", "", []string{
			`U:2:15: the file is not valid JSON: parsing string: unexpected EOF; the default settings are in force`,
		}, same},
		{"only space", " \n", "", []string{
			`U:2:1: the file is not valid JSON: parsing value: unexpected EOF; the default settings are in force`,
		}, same},
		{"two values", "{}\n{}", "", []string{
			`U:2:1: the file is not valid JSON: invalid character '{' after top-level value; the default settings are in force`,
		}, same},
		{"no object", "\n  [1]", "", []string{
			`U:2:3: the file must hold a JSON object, { … }; the default settings are in force`,
		}, same},
		{"not UTF-8", "{\n\"é\xff\": 1}", "", []string{
			`U:2:3: the file is not valid UTF-8; the default settings are in force`,
		}, same},
		{"too deep", "// \"\n" + strings.Repeat("[", 100_000), "", []string{
			`U:2:65: the file is nested more than 64 deep; the default settings are in force`,
		}, same},

		// Names.
		{"unknown", "{\n\t\"colour\": 1,\n\t\"minSavings\": 5}", "", []string{
			`U:2:2: "colour": is not a setting; it is ignored`,
			`U:3:2: "minSavings": is not a setting; did you mean "minSaving"? It is ignored`,
		}, same},
		{"wrong case", `{"Enabled": false}`, "", []string{
			`U:1:2: "Enabled": is not a setting; did you mean "enabled"? It is ignored`,
		}, same},
		{"wrong section", `{"maxLines": 5, "diff": {"maxAgeDays": 1, "lineratio": 1}}`, "", []string{
			`U:1:2: "maxLines": is not a setting; did you mean "diff.maxLines"? It is ignored`,
			`U:1:26: "diff.maxAgeDays": is not a setting; did you mean "store.maxAgeDays"? It is ignored`,
			`U:1:43: "diff.lineratio": is not a setting; did you mean "diff.lineRatio"? It is ignored`,
		}, same},
		{"a dot in a name is not a section", `{"diff.maxLines": 5}`, "", []string{
			`U:1:2: "diff.maxLines": is not a setting; write it as "maxLines" inside "diff": { … }. It is ignored`,
		}, same},
		{"given twice", "{\"minSaving\": 5,\n \"minSaving\": 6}", "", []string{
			`U:1:2: "minSaving": is given again on line 2; that one counts`,
		}, func(c *Config) { c.MinSaving = 6 }},
		{"given twice, the last one bad", "{\"minSaving\": 5, \"minSaving\": \"6\"}", "", []string{
			`U:1:2: "minSaving": is given again on line 1; that one counts`,
			`U:1:31: "minSaving": "6" is not accepted; it must be a whole number from -1 to 1048576; 1 is in force`,
		}, same},
		{"section given twice", `{"diff": {"maxLines": 1, "maxBytes": 1}, "diff": {"maxLines": 2}}`, "", []string{
			`U:1:2: "diff": is given again on line 1; that one counts`,
		}, func(c *Config) { c.Diff.MaxLines = 2 }},

		// Values.
		{"kinds", "{\n\"enabled\": \"yes\",\n\"minSaving\": null,\n\"diff\": 5,\n\"store\": [],\n\"maxFileBytes\": {}}", "", []string{
			`U:2:12: "enabled": "yes" is not accepted; it must be true or false; true is in force`,
			`U:3:14: "minSaving": null is not accepted; it must be a whole number from -1 to 1048576; 1 is in force`,
			`U:4:9: "diff": 5 is not accepted; it must be an object, { … }; its settings stay as they are`,
			`U:5:10: "store": [] is not accepted; it must be an object, { … }; its settings stay as they are`,
			`U:6:17: "maxFileBytes": {} is not accepted; it must be a whole number from 0 to 1073741824; 33554432 is in force`,
		}, same},
		{"the user's value holds against a bad one of the project", `{"minSaving": 9}`, `{"minSaving": 1.5}`, []string{
			`P:1:15: "minSaving": 1.5 is not accepted; it must be a whole number from -1 to 1048576; 9 is in force`,
		}, func(c *Config) { c.MinSaving = 9 }},
		{"a long value is cut", `{"enabled": "` + strings.Repeat("é", 100) + `"}`, "", []string{
			`U:1:13: "enabled": "` + strings.Repeat("é", 79) + `… is not accepted; it must be true or false; true is in force`,
		}, same},

		// Exclusions: never fewer than without the mistake.
		{"patterns", "{\"exclude\": [\"good1\",\n \"!not\",\n \"[a\", \"\", 5, \"a\\\\\",\n \"../up\", \"good2\"]}", "", []string{
			`U:2:2: "exclude[1]": "!not" is not accepted; an exclusion cannot be taken back with "!" (a name that starts with it is "\\!…"); the other exclusions stay in force`,
			`U:3:2: "exclude[2]": "[a" is not accepted; it is no valid pattern (is a "[" or "{" not closed, or a "\\" last?); the other exclusions stay in force`,
			`U:3:8: "exclude[3]": "" is not accepted; it must not be empty; the other exclusions stay in force`,
			`U:3:12: "exclude[4]": 5 is not accepted; it must be a string; the other exclusions stay in force`,
			`U:3:15: "exclude[5]": "a\\" is not accepted; it is no valid pattern (is a "[" or "{" not closed, or a "\\" last?); the other exclusions stay in force`,
			`U:4:2: "exclude[6]": "../up" is not accepted; no path has "." or ".." or nothing between two slashes, so it would never match; the other exclusions stay in force`,
		}, plus("good1", "good2")},
		{"too many alternatives", `{"exclude": ["` + strings.Repeat("{a,b}", 9) + `"]}`, "", []string{
			`U:1:14: "exclude[0]": "` + strings.Repeat("{a,b}", 9) + `" is not accepted; a pattern has at most 256 alternatives in all; the other exclusions stay in force`,
		}, same},
		{"too long", `{"exclude": ["` + strings.Repeat("a", 513) + `"]}`, "", []string{
			`U:1:14: "exclude[0]": "` + strings.Repeat("a", 79) + `… is not accepted; a pattern has at most 512 bytes; the other exclusions stay in force`,
		}, same},
		{"half a surrogate pair", `{"exclude": ["a\ud800"]}`, "", []string{
			`U:1:14: "exclude[0]": "a\ud800" is not accepted; it holds a character that no file name has; the other exclusions stay in force`,
		}, same},
		{"too many", `{"exclude": [` + strings.Repeat(`"a", `, 1001) + `]}`, "", []string{
			`U:1:13: "exclude": 1001 patterns are not accepted; it must be at most 1000; every file is excluded now`,
		}, plus("**")},
		{"no list", `{"exclude": {"a": 1}}`, "", []string{
			`U:1:13: "exclude": {"a": 1} is not accepted; it must be a list of patterns, [ … ]; the other exclusions stay in force`,
		}, same},
		{"one string", `{"exclude": "*.secret"}`, "", []string{
			`U:1:13: "exclude": "*.secret" is not accepted; it must be a list of patterns, [ … ]; it is taken as a list of one`,
		}, plus("*.secret")},
		{"lists twice", "{\"exclude\": [\"a\"],\n\"exclude\": [\"b\"]}", "", []string{
			`U:1:2: "exclude": is given again on line 2; all the lists together are in force`,
		}, plus("a", "b")},
		{"a bad list keeps the defaults", `{"exclude": ["[", "mine"], "excludeDefaults": false}`, "", []string{
			`U:1:14: "exclude[0]": "[" is not accepted; it is no valid pattern (is a "[" or "{" not closed, or a "\\" last?); the other exclusions stay in force`,
			`U:1:47: "excludeDefaults": the default exclusions stay in force, because other exclusions could not be read (see there)`,
		}, plus("mine")},
		{"a bad project file keeps the defaults", `{"excludeDefaults": false}`, `{"exclude": [`, []string{
			`U:1:21: "excludeDefaults": the default exclusions stay in force, because other exclusions could not be read (see there)`,
			`P:1:14: the file is not valid JSON: parsing value: unexpected EOF; the settings without it are in force`,
		}, same},
		{"a misspelt list keeps the defaults", `{"excludeDefaults": false, "excludes": ["x"]}`, "", []string{
			`U:1:21: "excludeDefaults": the default exclusions stay in force, because other exclusions could not be read (see there)`,
			`U:1:28: "excludes": is not a setting; did you mean "exclude"? It is ignored`,
		}, same},
		{"a project cannot drop the defaults", "", `{"excludeDefaults": false}`, []string{
			`P:1:21: "excludeDefaults": a project cannot drop the default exclusions; only the user's own file can; it is ignored`,
		}, same},
		{"excludeDefaults of another kind", `{"excludeDefaults": 0}`, "", []string{
			`U:1:21: "excludeDefaults": 0 is not accepted; it must be true or false; the default exclusions stay in force`,
		}, same},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := load(t, tt.user, tt.project)
			if diff := cmp.Diff(tt.want, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(with(tt.change), got, ignorePlaces); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
		})
	}
}

// Both ends of every range, and one step beyond.
func TestRanges(t *testing.T) {
	for _, tt := range []struct{ text, in, out string }{
		{`{"minSaving": %}`, "-1 0 1 1048576", "-2 1048577 0.5 1e400 true"},
		{`{"maxFileBytes": %}`, "0 1073741824", "-1 1073741825"},
		{`{"diff": {"maxBytes": %}}`, "0 67108864", "-1 67108865"},
		{`{"diff": {"maxLines": %}}`, "0 1000000", "-1 1000001"},
		{`{"diff": {"byteRatio": %}}`, "0.01 1 0.5", "0 0.009 1.01 -1 \"0.5\""},
		{`{"diff": {"lineRatio": %}}`, "0.01 1", "0 1.01"},
		{`{"store": {"maxBytes": %}}`, "1048576 1099511627776", "0 1048575 1099511627777 9223372036854775808"},
		{`{"store": {"maxAgeDays": %}}`, "1 3650", "0 3651 1.5"},
	} {
		for _, v := range strings.Fields(tt.in) {
			if _, problems := load(t, "", strings.Replace(tt.text, "%", v, 1)); len(problems) != 0 {
				t.Errorf("%s with %s: %v", tt.text, v, problems)
			}
		}
		for _, v := range strings.Fields(tt.out) {
			c, problems := load(t, "", strings.Replace(tt.text, "%", v, 1))
			if len(problems) != 1 || !strings.Contains(problems[0], " from ") {
				t.Errorf("%s with %s: problems %v, want one that names the range", tt.text, v, problems)
			}
			if diff := cmp.Diff(Default(), c, ignorePlaces); diff != "" {
				t.Errorf("%s with %s: %s", tt.text, v, diff)
			}
		}
	}
}

// Files that cannot be read. Each has a place, so that it looks like the rest.
func TestUnreadable(t *testing.T) {
	tests := []struct {
		name  string
		plant func(file string) error
		want  string
	}{
		{"folder", func(f string) error { return os.Mkdir(f, 0o700) }, "is not a file"},
		{"link to nothing", func(f string) error { return os.Symlink("nowhere", f) }, "is a link to a file that does not exist"},
		{"too large", func(f string) error { return os.WriteFile(f, make([]byte, maxFile+1), 0o600) }, "is larger than 1048576 bytes"},
		{"device", func(f string) error { return os.Symlink(os.DevNull, f) }, "is not a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			project, home := setup(t, `{"excludeDefaults": false}`, "{}")
			f := ProjectFile(project)
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
			if err := tt.plant(f); err != nil {
				t.Skip(err)
			}
			c, problems := Load(project, home)
			want := Problem{f, 1, 1, "", "the file " + tt.want + "; the settings without it are in force"}
			if len(problems) != 2 || problems[1] != want {
				t.Errorf("problems %v, want %v second", problems, want)
			}
			if !slices.Equal(c.Exclude, DefaultExcludes()) {
				t.Errorf("Exclude = %v, want the defaults", c.Exclude)
			}
		})
	}
	t.Run("largest", func(t *testing.T) {
		text := `{"minSaving": 3}`
		c, problems := load(t, text+strings.Repeat(" ", maxFile-len(text)), "")
		if c.MinSaving != 3 || len(problems) != 0 {
			t.Errorf("MinSaving = %d, problems %v", c.MinSaving, problems)
		}
	})
}

func TestClosest(t *testing.T) {
	for unknown, want := range map[string]string{
		"enable": "enabled", "minsaving": "minSaving", "maxFileByte": "maxFileBytes", "ecxlude": "exclude",
		"store.maxAge": "", "excludes": "exclude", "excludedefault": "excludeDefaults", "dif": "diff",
		"store.maxAgeDay": "store.maxAgeDays", "byteRatio": "diff.byteRatio", "x": "", "": "",
		"limits": "", strings.Repeat("enabled", 1000): "",
	} {
		if got := closest(unknown); got != want {
			t.Errorf("closest(%.20q) = %q, want %q", unknown, got, want)
		}
	}
}

// A file full of mistakes is reported in part: each place found costs time, and
// the file may be a stranger's.
func TestManyProblems(t *testing.T) {
	for _, member := range []string{`"a%d": 1,`, `"a": %d,`, `"exclude": ["!%d"],`} {
		var text strings.Builder
		text.WriteString("{")
		for i := 0; text.Len() < 100_000; i++ {
			text.WriteString("\n" + strings.Replace(member, "%d", strconv.Itoa(i), 1))
		}
		text.WriteString("}")
		_, problems := load(t, "", text.String())
		if len(problems) != maxProblems+1 || !strings.HasSuffix(problems[maxProblems], " more problems") {
			t.Errorf("%s: %d problems, last %s", member, len(problems), problems[len(problems)-1])
		}
	}
}
