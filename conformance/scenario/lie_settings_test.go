package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// Settings, secrets, and a project that cannot be written to (issue 2, builds 5 and 9; spec 15).

// configure writes the project's settings file.
func configure(t testing.TB, project, text string) {
	t.Helper()
	dir := filepath.Join(project, ".pi", "readcache")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// project is a fresh project folder, named as pi will name it.
func project(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// "enabled": false makes every answer the one of a pi without the extension.
func TestSettings_Disabled(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		dir := project(t)
		configure(t, dir, `{"enabled": false}`)
		s := &stage{Pi: start(t, realpi.Options{Line: line, Project: dir}), t: t, dir: "."}
		bare := s.bare(t)
		text := numbered(100)
		s.write("a.txt", text)
		s.write("big.txt", short(5000))
		for i := range 3 {
			got := s.same(bare, call(s.abs("a.txt"), nil, nil), call(s.abs("a.txt"), 10, 20), call(s.abs("big.txt"), nil, nil),
				call(s.abs("a.txt"), 500, nil), call(s.abs("gone"), nil, nil), call(s.abs("a.txt")+":5-10", nil, nil), call(s.abs("a.txt"), 0, -1))
			s.want(got[0], text)
			if i == 1 {
				text = s.replace("a.txt", "line 50 ", "LINE 50 ")
			}
		}
		if n := s.notices(); len(n) > 0 {
			t.Errorf("notices: %q", n)
		}
		if exists(s.store()) {
			t.Error("something was stored")
		}
		branch, err := s.Branch(bg)
		s.ok(err)
		for _, e := range branch {
			if strings.Contains(string(e.Details), "readcache") || e.CustomType == "pi-readcache" {
				t.Errorf("metadata in the session: %.300s", e.Raw)
			}
		}
		// The switch works both ways, from the next session on.
		configure(t, dir, `{"enabled": true}`)
		s.ok(s.NewSession(bg))
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
	})
}

// A bad settings file: one notice that says where, and the defaults are in force.
func TestSettings_Bad(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		dir := project(t)
		s := &stage{Pi: start(t, realpi.Options{Line: line, Project: dir}), t: t, dir: "."}
		text := numbered(100)
		s.write("a.txt", text)
		s.write(".env", text)
		for i, c := range []struct {
			config string
			told   []string
		}{
			{"{\n  \"enabled\": \"no\",\n  \"minSavings\": 100000\n}", []string{"config.json:2:", "enabled", "config.json:3:", "minSavings"}},
			{"{\n  \"enabled\": false,\n", []string{"config.json:"}},
			{"this is not JSON", []string{"config.json:1:"}},
			{"{\n\n  \"maxFileBytes\": -5}", []string{"config.json:3:", "maxFileBytes"}},
		} {
			configure(t, dir, c.config)
			s.ok(s.NewSession(bg))
			s.want(s.read("a.txt"), text)
			s.want(s.read(".env"), text)
			if i == 1 { // cut off in the middle: what was said before that may count or not
				continue
			}
			s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
			s.want(s.read(".env"), text)
			got := s.notices()
			if len(got) != i+1 {
				t.Errorf("%d notices, want one a session: %q", len(got), got)
				continue
			}
			s.wantPart(got[i], c.told...)
		}
	})
}

// A file where the store should be: nothing can be stored, everything else works.
func TestReadOnlyProject(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		dir := project(t)
		s := &stage{Pi: start(t, realpi.Options{Line: line, Project: dir}), t: t, dir: "."}
		for _, obstacle := range []string{".pi", ".pi/readcache", ".pi/readcache/objects", ".pi/readcache/tmp"} {
			s.ok(os.RemoveAll(filepath.Join(dir, ".pi")))
			file := filepath.Join(dir, filepath.FromSlash(obstacle))
			s.ok(os.MkdirAll(filepath.Dir(file), 0o755))
			s.ok(os.WriteFile(file, []byte("not a folder"), 0o444))
			s.ok(s.NewSession(bg))
			text := strings.ReplaceAll(numbered(100), "cache", obstacle)
			s.write("a.txt", text)
			s.want(s.read("a.txt"), text)
			s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
			s.wantStub(s.read("a.txt", 10, 20), "unchanged in lines 10-29 of 101")
			changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
			s.want(s.read("a.txt"), changed) // the base could not be kept
			s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
			if raw, err := os.ReadFile(file); err != nil || string(raw) != "not a folder" {
				t.Errorf("the user's file %s is %q, %v", obstacle, raw, err)
			}
		}
	})
}

// Secrets are never stored, have no metadata, and always come in full; a link to one is one.
func TestSecrets(t *testing.T) {
	play(t, func(s *stage) {
		secret := strings.ReplaceAll(numbered(100), "cache", "hunter2-"+s.dir)
		names := []string{".env", ".env.local", "id_rsa", "id_ed25519", "x.pem", "x.KEY", ".npmrc", ".netrc", "sub/server.crt"}
		for _, name := range names {
			s.write(name, secret)
		}
		s.ok(os.Symlink(".env", s.abs("notes.txt")))
		s.ok(os.Symlink("notes.txt", s.abs("readme.txt")))
		names = append(names, "notes.txt", "readme.txt")
		plain := numbered(100)
		s.write("plain.txt", plain)
		calls := []scripted.Call{scripted.Read(s.path("plain.txt"))}
		for _, name := range names {
			calls = append(calls, scripted.Read(s.path(name)), scripted.ReadRange(s.path(name), 10, 20))
		}
		for round := range 3 {
			got := s.batch(calls...)
			if round == 0 {
				s.want(got[0], plain)
			} else {
				s.wantStub(got[0], "unchanged, 101 lines")
			}
			for i := range names {
				s.want(got[1+2*i], secret)
				s.want(got[2+2*i], part(secret, 10, 29))
			}
		}
		s.stored(plain) // so that what was stored can be seen
		s.nothingOf("hunter2-" + s.dir)
		sum := sha256.Sum256([]byte(secret))
		branch, err := s.Branch(bg)
		s.ok(err)
		for _, e := range branch {
			if e.Role != "toolResult" || !strings.Contains(e.Text, "hunter2") {
				continue
			}
			if strings.Contains(string(e.Details), "readcache") || strings.Contains(string(e.Raw), hex.EncodeToString(sum[:16])) {
				s.t.Errorf("metadata of a secret: %s", e.Details)
			}
		}
		// Once plain, now a secret: no diff against what was harmless.
		s.ok(os.Remove(s.abs("plain.txt")))
		s.ok(os.Symlink(".env", s.abs("plain.txt")))
		s.want(s.read("plain.txt"), secret)
		s.want(s.read("plain.txt"), secret)
		s.nothingOf("hunter2-" + s.dir)
	})
}

// nothingOf fails the scenario if any file of the project's store holds the text.
func (s *stage) nothingOf(text string) {
	s.t.Helper()
	files := 0
	err := filepath.WalkDir(filepath.Join(s.Options.Project, ".pi"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), text) {
			s.t.Errorf("%s holds the secret", path)
		}
		return err
	})
	s.ok(err)
	if files == 0 {
		s.t.Error("nothing at all is stored: it shows nothing")
	}
}
