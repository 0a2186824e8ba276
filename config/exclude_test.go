package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDefaultExcludes(t *testing.T) {
	c := Default()
	for _, name := range []string{
		".env", ".env.local", ".envrc", ".ENV", "server.pem", "SERVER.PEM", "tls.Key", "a.p12", "a.pfx", "a.crt",
		"a.cer", "a.der", "a.pk8", "id_rsa", "ID_RSA", "id_ed25519", ".npmrc", ".netrc", ".pem",
		"\xff.pem", "odd\nname.pem", "id_rſa", "x.Key", // ſ and the Kelvin sign
	} {
		if !c.Excluded("/home/u/project/sub/" + name) {
			t.Errorf("%q is not excluded", name)
		}
	}
	for _, name := range []string{"main.go", "env", "x.env", "pem", "a.pem.txt", "key.go", "id_rsa.pub", "monkey", "npmrc", ".env/x"} {
		if c.Excluded("/home/u/project/" + name) {
			t.Errorf("%q is excluded", name)
		}
	}
	if c.Excluded() || c.Excluded("/") || c.Excluded("") || (Config{}).Excluded("/.env") {
		t.Error("excluded without a pattern or a path")
	}
	// Each of the given names counts: the link and its target.
	if !c.Excluded("/p/harmless.txt", "/p/.env") || !c.Excluded("/p/.env", "/p/harmless.txt") {
		t.Error("only one of the names was looked at")
	}
}

func TestExcluded(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no string // P: the project, H: the home folder
	}{
		{"*.secret", "P/a.secret P/b/c.SECRET /elsewhere/x.secret", "P/a.secret/b P/secret"},
		{"notes", "P/notes P/x/Notes", "P/notes/x P/notes.txt"},
		{"{a,b}.[ch]", "P/a.c P/z/B.H", "P/a.x P/c.c"},
		{`\!important`, "P/!important", "P/important"},
		{"certs/**", "P/certs P/certs/a P/Certs/B/c", "P/x/certs/a P/certs2/a /certs/a"},
		{"certs/", "P/certs/a/b", "P/xcerts/a"},
		{"./certs", "P/certs/a/b", "P/x/certs"},
		{"./a.txt", "P/a.txt", "P/x/a.txt"},
		{"a/b", "P/a/b P/A/B/c/d", "P/a/bc P/x/a/b"},
		{"a/*.txt", "P/a/x.txt", "P/a/b/x.txt P/a/x.go"},
		{"**/secrets/**", "P/secrets/x P/a/b/secrets/c/d /elsewhere/secrets/x", "P/secret/x"},
		{"/etc/**", "/etc/passwd /ETC/ssh/x", "P/etc/passwd"},
		{"/etc", "/etc/passwd", "/etcetera P/x"},
		{"~/private/**", "H/private/a/b H/PRIVATE/x", "H/public P/private/x P/~/private/x"},
		{"~/", "H/a/b", "P/a"},
		{"**", "P/a /b", ""},
		{"/", "P/a /b", ""},
	}
	for _, tt := range tests {
		// Names with characters that mean something in a pattern.
		project, home := filepath.Join(t.TempDir(), "My [p]"), filepath.Join(t.TempDir(), "h{1},*")
		for _, d := range []string{filepath.Dir(ProjectFile(project)), home} {
			if err := os.MkdirAll(d, 0o700); err != nil {
				t.Skip(err)
			}
		}
		text := `{"exclude": ["` + strings.ReplaceAll(tt.pattern, `\`, `\\`) + `"]}`
		if err := os.WriteFile(ProjectFile(project), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := Load(project, home)
		if len(problems) != 0 {
			t.Errorf("%s: %v", tt.pattern, problems)
		}
		path := func(s string) string {
			s = strings.Replace(s, "P/", project+"/", 1)
			return strings.Replace(s, "H/", home+"/", 1)
		}
		for _, name := range strings.Fields(tt.yes) {
			if !c.Excluded(path(name)) {
				t.Errorf("%s does not exclude %s", tt.pattern, name)
			}
		}
		for _, name := range strings.Fields(tt.no) {
			if c.Excluded(path(name)) {
				t.Errorf("%s excludes %s", tt.pattern, name)
			}
		}
	}
}

// The project may be reached through a link, and the file by either name.
func TestExcludedInLinkedProject(t *testing.T) {
	real, home := setup(t, "", `{"exclude": ["certs/**"]}`)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	c, _ := Load(link, home)
	for _, dir := range []string{real, link} {
		if !c.Excluded(filepath.Join(dir, "certs", "x")) || c.Excluded(filepath.Join(dir, "other", "certs", "x")) {
			t.Errorf("certs/** is not taken relative to %s", dir)
		}
	}
}

// Letter case never matters; a pattern made by quoting a name matches it.
func TestExcludedProperties(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Z0-9._ \-\[\]{}*?]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		base := name.Filter(func(s string) bool { return s != "." && s != ".." && strings.TrimSpace(s) != "" }).Draw(t, "name")
		p := literal(base)
		if problem := checkPattern(p); problem != "" {
			t.Fatalf("%q: %s", p, problem)
		}
		for _, c := range []Config{
			{Exclude: []string{p}},
			{Exclude: []string{strings.ToUpper(p)}},
			{Exclude: []string{"sub/" + p}, base: []string{"/project"}},
		} {
			for _, file := range []string{base, strings.ToLower(base), strings.ToUpper(base)} {
				if !c.Excluded("/project/sub/" + file) {
					t.Fatalf("%q does not exclude %q", c.Exclude, file)
				}
			}
		}
		c := Config{Exclude: []string{"sub/" + p}, base: []string{"/project"}}
		if c.Excluded("/project/other/"+base) || c.Excluded("/project/"+base+"x") {
			t.Fatalf("%q excludes too much", c.Exclude)
		}
	})
}

// Text of a stranger must not cost much, however it is built.
func TestPatternCost(t *testing.T) {
	name := "/project/" + strings.Repeat("a", 200) + "/" + strings.Repeat("a/", 200) + strings.Repeat("a", 200) + "b"
	for _, p := range []string{
		strings.Repeat("*a", 255) + "*c", strings.Repeat("**/", 160) + "c", strings.Repeat("**/a/", 90) + "c",
		strings.Repeat("{a,*}", 8) + "c", strings.Repeat("**/*a*/", 70) + "c", "**/{" + strings.Repeat("*a,", 160) + "c}",
		strings.Repeat("{*,**/}", 8) + "/c", strings.Repeat("{a,b", 80) + strings.Repeat("}", 80),
	} {
		if checkPattern(p) != "" {
			continue
		}
		start := time.Now()
		Config{Exclude: []string{p}, base: []string{"/project"}}.Excluded(name)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%.30s… took %v", p, took)
		}
	}
}

func BenchmarkExcluded(b *testing.B) {
	c := Default()
	c.Exclude = append(c.Exclude, "certs/**", "~/private/**")
	c.base, c.home = []string{"/home/u/project"}, "/home/u"
	for b.Loop() {
		if c.Excluded("/home/u/project/internal/server/handler.go") {
			b.Fatal("excluded")
		}
	}
}
