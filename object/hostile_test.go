package object

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Whatever lies under an object's name that is not the object is a miss, is
// removed, and the next Put heals it. spec 9.3; false stub 52
func TestCorruptObjects(t *testing.T) {
	const content = "the snapshot\nof a file\n"
	hash := Sum([]byte(content))
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	write := func(text string) func(string) error {
		return func(f string) error { return os.WriteFile(f, []byte(text), 0o600) }
	}
	tests := []struct {
		name  string
		plant func(file string) error
		// putBlind: the planted thing has the object's size, so a Put before
		// the next Get cannot tell.
		putBlind bool
	}{
		{name: "zero length", plant: write("")},
		{name: "truncated", plant: write(content[:len(content)-1])},
		{name: "appended", plant: write(content + "x")},
		{name: "one bit flipped", plant: write("the snapshoT" + content[12:]), putBlind: true},
		{name: "line ends changed", plant: write(strings.ReplaceAll(content, "\n", "\r\n"))},
		{name: "another object's content", plant: write("other")},
		{name: "hole of zeros", plant: write(strings.Repeat("\x00", len(content))), putBlind: true},
		// The link's target even has the right content: it is not followed.
		{name: "link out", plant: func(f string) error { return os.Symlink(secret, f) }},
		{name: "link to nothing", plant: func(f string) error { return os.Symlink("nowhere", f) }},
		{name: "link to itself", plant: func(f string) error { return os.Symlink(filepath.Base(f), f) }},
		{name: "folder", plant: func(f string) error { return os.Mkdir(f, 0o700) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			plant := func() {
				t.Helper()
				if err := os.RemoveAll(file(s, hash)); err != nil {
					t.Fatal(err)
				}
				if err := tt.plant(file(s, hash)); err != nil {
					t.Skip(err)
				}
			}
			mustPut(t, s, content)
			plant()
			wantError(t, s, hash, ErrCorrupt)
			if _, err := os.Lstat(file(s, hash)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("still there after Get: %v", err)
			}
			wantError(t, s, hash, ErrMissing)
			mustPut(t, s, content)
			wantContent(t, s, content)

			plant()
			err := s.Put(context.Background(), hash, []byte(content))
			switch got, getErr := s.Get(context.Background(), hash); {
			case tt.putBlind || err != nil:
				if !errors.Is(getErr, ErrCorrupt) {
					t.Errorf("Put over it = %v, then Get = %q, %v; want ErrCorrupt", err, got, getErr)
				}
			case getErr != nil || string(got) != content:
				t.Errorf("Put over it, then Get = %q, %v", got, getErr)
			}
			if raw, err := os.ReadFile(secret); err != nil || string(raw) != content {
				t.Errorf("the link's target changed: %q, %v", raw, err)
			}
			if left := files(t, s, "tmp"); len(left) != 0 {
				t.Errorf("left in tmp: %v", left)
			}
		})
	}
}

// The empty file is a legal object, unlike an emptied one.
func TestEmptyObject(t *testing.T) {
	s := newStore(t)
	hash := mustPut(t, s, "")
	wantContent(t, s, "")
	if err := os.WriteFile(file(s, hash), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantError(t, s, hash, ErrCorrupt)
}

// spec 9.2: nobody else gets in, whatever the umask and whatever was there.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	check := func(t *testing.T, s *Store, hash string) {
		t.Helper()
		for name, want := range map[string]fs.FileMode{
			"": 0o700, "objects": 0o700, "tmp": 0o700, ".gitignore": 0o600, "README": 0o600,
			"objects/sha256-" + hash + ".txt": 0o600,
		} {
			info, err := os.Lstat(filepath.Join(s.dir, name))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%q: mode %v, %v; want %v", name, info.Mode().Perm(), err, want)
			}
		}
	}
	s := newStore(t)
	hash := mustPut(t, s, "private")
	check(t, s, hash)
	if info, _ := os.Stat(filepath.Dir(s.dir)); info.Mode().Perm()&0o500 != 0o500 {
		t.Errorf(".pi has mode %v", info.Mode())
	}
	for _, d := range []string{"", "objects", "tmp"} {
		if err := os.Chmod(filepath.Join(s.dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	mustPut(t, s, "private")
	check(t, s, hash)
}

// A link in place of the folder, objects/ or tmp/ is refused by everything, and
// what it points to stays as it is.
func TestPlantedFolderLinks(t *testing.T) {
	const content = "snapshot"
	hash := Sum([]byte(content))
	for _, name := range []string{"", "objects", "tmp"} {
		for _, where := range []string{"outside", "inside", "file"} {
			t.Run(name+" "+where, func(t *testing.T) {
				s := newStore(t)
				mustPut(t, s, content)
				planted := filepath.Join(s.dir, name)
				target := filepath.Join(t.TempDir(), "target")
				if where == "inside" {
					// A link that os.Root alone would follow.
					target = planted + "-moved"
				}
				if err := os.Rename(planted, target); err != nil {
					t.Fatal(err)
				}
				var err error
				if where == "file" {
					err = os.WriteFile(planted, nil, 0o600)
				} else {
					err = os.Symlink(target, planted)
				}
				if err != nil {
					t.Skip(err)
				}
				before := tree(t, target)
				if err := s.Put(context.Background(), Sum([]byte("new")), []byte("new")); !errors.Is(err, ErrUnsafe) {
					t.Errorf("Put = %v, want ErrUnsafe", err)
				}
				_, pruneErr := s.Prune(context.Background(), time.Now().Add(1e6*time.Hour), Policy{}, nil)
				if name == "tmp" {
					// Reading needs no tmp/. Removing does, and is refused.
					wantContent(t, s, content)
				} else {
					wantError(t, s, hash, ErrUnsafe)
				}
				if !errors.Is(pruneErr, ErrUnsafe) {
					t.Errorf("Prune = %v, want ErrUnsafe", pruneErr)
				}
				if after := tree(t, target); after != before {
					t.Errorf("the target changed from\n%sto\n%s", before, after)
				}
			})
		}
	}
}

// tree lists what is below dir, with modes and sizes.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(info.Mode().String() + " " + path + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A link above the store folder is the user's business.
func TestLinkedParentIsFollowed(t *testing.T) {
	real := t.TempDir()
	project := t.TempDir()
	if err := os.Symlink(real, filepath.Join(project, ".pi")); err != nil {
		t.Skip(err)
	}
	s := Open(filepath.Join(project, ".pi", "readcache"))
	mustPut(t, s, "x")
	wantContent(t, s, "x")
}

// setAside must not remove a file that took the place of the one it was asked
// to remove: a healed object, or one that was marked as used meanwhile.
func TestSetAsidePutsBackAnother(t *testing.T) {
	const content = "good"
	hash := Sum([]byte(content))
	for name, change := range map[string]func(s *Store) error{
		"replaced": func(s *Store) error {
			other := file(s, hash) + ".new"
			return errors.Join(os.WriteFile(other, []byte(content), 0o600), os.Rename(other, file(s, hash)))
		},
		"used": func(s *Store) error { return os.Chtimes(file(s, hash), time.Now(), time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			mustPut(t, s, content)
			setUsed(t, s, hash, time.Now().Add(-1000*time.Hour))
			root, err := s.openForRead()
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			seen, err := root.Lstat(objectPath(hash))
			if err != nil {
				t.Fatal(err)
			}
			if err := change(s); err != nil {
				t.Fatal(err)
			}
			if removed, err := s.setAside(root, hash, seen); removed || err != nil {
				t.Errorf("setAside = %v, %v; want it left", removed, err)
			}
			wantContent(t, s, content)
			seen, err = root.Lstat(objectPath(hash))
			if err != nil {
				t.Fatal(err)
			}
			if removed, err := s.setAside(root, hash, seen); !removed || err != nil {
				t.Errorf("setAside of the same file = %v, %v; want it removed", removed, err)
			}
			wantError(t, s, hash, ErrMissing)
		})
	}
}
