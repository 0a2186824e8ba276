//go:build unix

package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A process whose files may not grow past 4 KiB stands for a full disk: the
// write itself fails half-way, in the kernel.
func roleFileLimit(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 4096, Max: 4096}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	s := Open(dir)
	big := bytes.Repeat([]byte("big\n"), 4096)
	if err := s.Put(context.Background(), Sum(big), big); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("put past the limit: %v, want EFBIG", err)
	}
	small := []byte("small")
	return s.Put(context.Background(), Sum(small), small)
}

func TestFileLimit(t *testing.T) {
	s := newStore(t)
	mustPut(t, s, "earlier")
	runRole(t, "filelimit", s.dir)
	big := bytes.Repeat([]byte("big\n"), 4096)
	wantError(t, s, Sum(big), ErrMissing)
	wantContent(t, s, "earlier")
	wantContent(t, s, "small")
	if left := files(t, s, "tmp"); len(left) != 0 {
		t.Errorf("left in tmp: %v", left)
	}
}

// A real full disk, where this process may mount one. CI and developers who may
// not have TestFileLimit and TestFailedPutLeavesNothing.
func TestDiskFull(t *testing.T) {
	disk := t.TempDir()
	if err := mountSmall(disk, 256<<10); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	s := Open(filepath.Join(disk, "store"))
	var stored [][]byte
	for i := range 100 {
		content := bytes.Repeat([]byte{byte('a' + i)}, 50_000)
		err := s.Put(context.Background(), Sum(content), content)
		if err == nil {
			stored = append(stored, content)
			continue
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Put on a full disk = %v, want ENOSPC", err)
		}
		wantError(t, s, Sum(content), ErrMissing)
		break
	}
	if len(stored) == 0 || len(stored) > 5 {
		t.Fatalf("%d objects fitted on the disk", len(stored))
	}
	for _, content := range stored {
		wantContent(t, s, string(content))
	}
	if left := files(t, s, "tmp"); len(left) != 0 {
		t.Errorf("left in tmp: %v", left)
	}
	// Removing needs no space, and then there is room again.
	if _, err := s.Prune(context.Background(), time.Now(), Policy{MaxBytes: 1, MinAge: -1}, nil); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "room again")
	wantContent(t, s, "room again")
}

// Get works where nothing may be written; Put and Prune fail and change nothing.
func roleReadOnly(dir string) error {
	if os.Getuid() == 0 { // root is not bound by modes
		if err := errors.Join(syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			return err
		}
	}
	ctx := context.Background()
	s := Open(dir)
	s.now = func() time.Time { return time.Now().Add(100 * 24 * time.Hour) }
	for _, content := range []string{"one", "two"} {
		if got, err := s.Get(ctx, Sum([]byte(content))); err != nil || string(got) != content {
			return fmt.Errorf("get = %q, %v", got, err)
		}
	}
	if _, err := s.Get(ctx, Sum([]byte("right"))); !errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("get of a corrupt object that cannot be removed = %v", err)
	}
	if err := s.Put(ctx, Sum([]byte("new")), []byte("new")); !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("put = %v, want permission denied", err)
	}
	if _, err := s.Stats(); err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	res, err := s.Prune(ctx, s.now(), Policy{}, nil)
	if !errors.Is(err, os.ErrPermission) || res.Removed != 0 || res.Kept != 3 {
		return fmt.Errorf("prune = %+v, %v", res, err)
	}
	return nil
}

func TestReadOnly(t *testing.T) {
	s := newStore(t)
	mustPut(t, s, "one")
	mustPut(t, s, "two")
	hash := mustPut(t, s, "right")
	if err := os.WriteFile(file(s, hash), []byte("wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Everything readable by all, writable by none, and reachable.
	err := filepath.Walk(s.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if info.IsDir() {
			return os.Chmod(path, 0o555)
		}
		return os.Chmod(path, 0o444)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // so that it can be removed
		for _, d := range []string{"", "objects", "tmp"} {
			_ = os.Chmod(filepath.Join(s.dir, d), 0o700)
		}
	})
	for d := filepath.Dir(s.dir); d != filepath.Clean(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, s.dir)
	runRole(t, "readonly", s.dir)
	if after := tree(t, s.dir); after != before {
		t.Errorf("changed from\n%sto\n%s", before, after)
	}
}

// Opening a pipe to read it would wait for ever.
func TestPlantedPipe(t *testing.T) {
	s := newStore(t)
	hash := mustPut(t, s, "x")
	if err := os.Remove(file(s, hash)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file(s, hash), 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Get(context.Background(), hash)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("Get = %v, want ErrCorrupt", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Get blocked on a pipe")
	}
}

func init() {
	roles["filelimit"] = roleFileLimit
	roles["readonly"] = roleReadOnly
}
