package object

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newStore returns a store in a folder that does not exist yet.
func newStore(t testing.TB, opts ...Option) *Store {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), ".pi", "readcache"), opts...)
}

func mustPut(t testing.TB, s *Store, content string) (hash string) {
	t.Helper()
	hash = Sum([]byte(content))
	if err := s.Put(context.Background(), hash, []byte(content)); err != nil {
		t.Fatalf("Put(%.20q): %v", content, err)
	}
	return hash
}

func wantContent(t testing.TB, s *Store, content string) {
	t.Helper()
	got, err := s.Get(context.Background(), Sum([]byte(content)))
	if err != nil || string(got) != content {
		t.Fatalf("Get = %.40q, %v; want %.40q", got, err, content)
	}
}

func wantError(t testing.TB, s *Store, hash string, want error) {
	t.Helper()
	got, err := s.Get(context.Background(), hash)
	if !errors.Is(err, want) || got != nil {
		t.Fatalf("Get(%.20q…) = %.40q, %v; want error %v", hash, got, err, want)
	}
}

// file is the object's path, spelled out here on purpose: spec 9.1.
func file(s *Store, hash string) string {
	return filepath.Join(s.dir, "objects", "sha256-"+hash+".txt")
}

// files lists a folder of the store; a missing folder is empty.
func files(t testing.TB, s *Store, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.dir, dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func setUsed(t testing.TB, s *Store, hash string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(file(s, hash), at, at); err != nil {
		t.Fatal(err)
	}
}

func used(t testing.TB, s *Store, hash string) time.Time {
	t.Helper()
	info, err := os.Stat(file(s, hash))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// spec 9.1, 9.2, 9.3
func TestRoundTrip(t *testing.T) {
	s := newStore(t)
	for _, content := range []string{
		"", "\n", "one line", "\xef\xbb\xbfBOM\r\n", "not \xff UTF-8 \x00", strings.Repeat("x\n", 1<<20),
	} {
		wantError(t, s, Sum([]byte(content)), ErrMissing)
		hash := mustPut(t, s, content)
		wantContent(t, s, content)
		mustPut(t, s, content)
		wantContent(t, s, content)
		raw, err := os.ReadFile(file(s, hash))
		if err != nil || string(raw) != content {
			t.Fatalf("file = %.40q, %v; want the bytes themselves", raw, err)
		}
	}
	if left := files(t, s, "tmp"); len(left) != 0 {
		t.Errorf("left in tmp: %v", left)
	}
}

// A store written by the TypeScript extension: looser modes, nothing but the
// two folders. spec 9.1
func TestReadsOlderStore(t *testing.T) {
	s := newStore(t)
	content := "written before\n"
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	for _, d := range []string{"objects", "tmp"} {
		if err := os.MkdirAll(filepath.Join(s.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file(s, hash), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	wantContent(t, s, content)
	mustPut(t, s, "newer\n")
	wantContent(t, s, content)
	if got := files(t, s, ""); len(got) != 4 || got[0] != ".gitignore" || got[1] != "README" {
		t.Errorf("store folder holds %v; want .gitignore and README added", got)
	}
}

func TestOpenDoesNoIO(t *testing.T) {
	s := newStore(t)
	wantError(t, s, Sum(nil), ErrMissing)
	if st, err := s.Stats(); err != nil || st != (Stats{}) {
		t.Errorf("Stats = %+v, %v; want zero", st, err)
	}
	if res, err := s.Prune(context.Background(), time.Now(), Policy{}, nil); err != nil || res != (PruneResult{}) {
		t.Errorf("Prune = %+v, %v; want zero", res, err)
	}
	if s.PruneDue(time.Now(), time.Hour) {
		t.Error("PruneDue of a store that does not exist")
	}
	if _, err := os.Lstat(filepath.Dir(s.dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading created something: %v", err)
	}
}

func TestBadHash(t *testing.T) {
	s := newStore(t)
	good := mustPut(t, s, "x")
	for _, hash := range []string{
		"", "abc", good[:63], good + "0", strings.ToUpper(good), "sha256-" + good[7:],
		"../../../../etc/passwd", strings.Repeat("../", 21) + "x", "/" + good[1:], good[:63] + "/",
		good[:63] + "\x00", good[:60] + "ñé", strings.Repeat("g", 64), strings.Repeat(".", 64),
	} {
		wantError(t, s, hash, ErrBadHash)
		if err := s.Put(context.Background(), hash, []byte("x")); !errors.Is(err, ErrBadHash) {
			t.Errorf("Put(%q) = %v, want ErrBadHash", hash, err)
		}
	}
	other := Sum([]byte("y"))
	if err := s.Put(context.Background(), other, []byte("x")); !errors.Is(err, ErrBadHash) {
		t.Errorf("Put with another content's hash = %v, want ErrBadHash", err)
	}
	wantError(t, s, other, ErrMissing)
	if got := files(t, s, "objects"); len(got) != 1 {
		t.Errorf("objects = %v, want only the good one", got)
	}
}

func TestCancelled(t *testing.T) {
	s := newStore(t)
	hash := mustPut(t, s, "there")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Get(ctx, hash); !errors.Is(err, context.Canceled) {
		t.Errorf("Get = %v", err)
	}
	if err := s.Put(ctx, Sum([]byte("new")), []byte("new")); !errors.Is(err, context.Canceled) {
		t.Errorf("Put = %v", err)
	}
	if _, err := s.Prune(ctx, time.Now(), Policy{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Prune = %v", err)
	}
	// Cancelled while writing: nothing appears, nothing stays.
	ctx, cancel = context.WithCancel(context.Background())
	s.fault = func(step string) error {
		if step == "sync" {
			cancel()
		}
		return nil
	}
	if err := s.Put(ctx, Sum([]byte("new")), []byte("new")); !errors.Is(err, context.Canceled) {
		t.Errorf("Put cancelled midway = %v", err)
	}
	if objects, tmp := files(t, s, "objects"), files(t, s, "tmp"); len(objects) != 1 || len(tmp) != 0 {
		t.Errorf("objects %v, tmp %v; want one and none", objects, tmp)
	}
}

func TestMaxObject(t *testing.T) {
	s := newStore(t, WithMaxObject(10))
	mustPut(t, s, "0123456789")
	wantContent(t, s, "0123456789")
	long := "0123456789a"
	hash := Sum([]byte(long))
	if err := s.Put(context.Background(), hash, []byte(long)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Put of 11 bytes = %v, want ErrTooLarge", err)
	}
	// Another process with a higher limit put it there: refused, but not lost.
	bigger := Open(s.dir)
	mustPut(t, bigger, long)
	wantError(t, s, hash, ErrTooLarge)
	wantContent(t, bigger, long)
}

// The time of last use is refreshed, but not by every use.
func TestUseRefreshesTime(t *testing.T) {
	s := newStore(t)
	hash := mustPut(t, s, "x")
	now := time.Now().Truncate(time.Second)
	s.now = func() time.Time { return now }
	uses := map[string]func(){
		"Get": func() { wantContent(t, s, "x") },
		"Put": func() { mustPut(t, s, "x") },
	}
	for name, use := range uses {
		for _, c := range []struct {
			age     time.Duration
			refresh bool
		}{
			{0, false},
			{touchInterval - time.Second, false},
			{touchInterval, true},
			{90 * 24 * time.Hour, true},
			{-touchInterval + time.Second, false},
			{-48 * time.Hour, true},
		} {
			then := now.Add(-c.age)
			setUsed(t, s, hash, then)
			use()
			want := then
			if c.refresh {
				want = now
			}
			if got := used(t, s, hash); !got.Equal(want) {
				t.Errorf("%s at age %v: last use %v, want %v", name, c.age, got, want)
			}
		}
	}
}

func TestStats(t *testing.T) {
	s := newStore(t)
	now := time.Now().Truncate(time.Second)
	a, b := mustPut(t, s, "12345"), mustPut(t, s, "1234567")
	setUsed(t, s, a, now.Add(-time.Hour))
	setUsed(t, s, b, now)
	for _, f := range []string{"objects/notes.txt", "objects/sha256-XYZ.txt", "tmp/left"} {
		if err := os.WriteFile(filepath.Join(s.dir, f), []byte("foreign"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Stats()
	if err != nil || !got.Oldest.Equal(now.Add(-time.Hour)) || !got.Newest.Equal(now) {
		t.Errorf("Stats = %+v, %v", got, err)
	}
	got.Oldest, got.Newest = time.Time{}, time.Time{}
	if want := (Stats{Objects: 2, Bytes: 12, Foreign: 2, Temp: 1}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}

// What git would commit of the folder: the settings, never a snapshot.
func TestGitIgnoresSnapshots(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	project := t.TempDir()
	s := Open(filepath.Join(project, ".pi", "readcache"))
	mustPut(t, s, "private")
	if err := os.WriteFile(filepath.Join(s.dir, "config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		out, err := exec.Command(git, append([]string{"-C", project}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("init", "-q")
	if got := run("ls-files", "-o", "--exclude-standard"); got != ".pi/readcache/config.json\n" {
		t.Errorf("git would add:\n%s", got)
	}
}

// The user's own .gitignore and README stay.
func TestKeepsUsersFiles(t *testing.T) {
	s := newStore(t)
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".gitignore", "README"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustPut(t, s, "x")
	for _, name := range []string{".gitignore", "README"} {
		got, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil || !bytes.Equal(got, []byte("mine")) {
			t.Errorf("%s = %q, %v; want it left alone", name, got, err)
		}
	}
}

// The folder may vanish between two calls.
func TestDeletedUnderneath(t *testing.T) {
	s := newStore(t)
	hash := mustPut(t, s, "x")
	for _, gone := range []string{"", "objects", "tmp", "README", ".gitignore"} {
		if err := os.RemoveAll(filepath.Join(s.dir, gone)); err != nil {
			t.Fatal(err)
		}
		if gone == "" || gone == "objects" {
			wantError(t, s, hash, ErrMissing)
		}
		mustPut(t, s, "x")
		wantContent(t, s, "x")
		if _, err := os.Stat(filepath.Join(s.dir, gone)); err != nil {
			t.Errorf("%q did not come back: %v", gone, err)
		}
		if gone == "tmp" {
			continue
		}
		// Get and Prune of a store without tmp/.
		if err := os.RemoveAll(filepath.Join(s.dir, "tmp")); err != nil {
			t.Fatal(err)
		}
		wantContent(t, s, "x")
		if _, err := s.Prune(context.Background(), time.Now(), Policy{}, nil); err != nil {
			t.Errorf("Prune without tmp: %v", err)
		}
	}
}
