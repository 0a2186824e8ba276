//go:build unix

package textfile

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for _, content := range []string{"", "a", "a\nb\n", strings.Repeat("x", 511), strings.Repeat("x", 512), strings.Repeat("long\n", 700_000)} {
		writeFile(t, name, content)
		s, err := Load(t.Context(), name, int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		if string(s.Bytes()) != content || s.Path() != name {
			t.Errorf("loaded %d bytes of %q, want %d", len(s.Bytes()), s.Path(), len(content))
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(t.Context(), link, 64<<20); err != nil || s.Total() != 700_001 {
		t.Errorf("through a link: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("eleven"), "0123456789\n")
	writeFile(t, at("latin1"), "caf\xe9\n")
	if err := syscall.Mkfifo(at("fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, link := range [][2]string{{"nowhere", "dangling"}, {"loop", "loop"}, {"fifo", "to-fifo"}, {".", "to-dir"}} {
		if err := os.Symlink(link[0], at(link[1])); err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.Listen("unix", at("s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, c := range []struct {
		path string
		max  int64
		want error
	}{
		{at("missing"), 99, fs.ErrNotExist},
		{at("eleven/x"), 99, syscall.ENOTDIR},
		{at("dangling"), 99, fs.ErrNotExist},
		{at("loop"), 99, syscall.ELOOP},
		{at(strings.Repeat("n", 300)), 99, syscall.ENAMETOOLONG},
		{"", 99, fs.ErrNotExist},
		{at("a\x00b"), 99, syscall.EINVAL},
		{dir, 1 << 20, ErrNotRegular},
		{at("to-dir"), 1 << 20, ErrNotRegular},
		{at("fifo"), 99, ErrNotRegular},
		{at("to-fifo"), 99, ErrNotRegular},
		{at("s"), 99, ErrNotRegular},
		{"/dev/zero", 99, ErrNotRegular},
		{"/dev/null", 99, ErrNotRegular},
		{at("eleven"), 10, ErrTooLarge},
		{at("eleven"), 0, ErrTooLarge},
		{at("eleven"), -1, ErrTooLarge},
		{at("latin1"), 99, ErrNotText},
	} {
		// A hang is the failure looked for, so the wait is bounded.
		done := make(chan error, 1)
		go func() {
			_, err := Load(context.Background(), c.path, c.max)
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, c.want) {
				t.Errorf("Load(%q, %d) = %v, want %v", c.path, c.max, err, c.want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("Load(%q) hangs", c.path)
		}
	}
}

func TestLoadCancelled(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	writeFile(t, name, "text")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, name, 99); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A growingFile is a file that another process appends to, and that cancels a
// context after some reads.
type growingFile struct {
	reads  int
	cancel func()
}

func (g *growingFile) Read(p []byte) (int, error) {
	if g.reads--; g.reads == 0 {
		g.cancel()
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReadBounded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The hint is too small: the bound holds all the same.
	if _, err := readBounded(ctx, &growingFile{}, 3, 5000); !errors.Is(err, ErrTooLarge) {
		t.Errorf("growing file: %v", err)
	}
	if got, err := readBounded(ctx, strings.NewReader(strings.Repeat("y", 5000)), 0, 5000); err != nil || len(got) != 5000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	// The hint is too large: the file shrank.
	if got, err := readBounded(ctx, strings.NewReader("abc"), 5000, 5000); err != nil || string(got) != "abc" {
		t.Errorf("%q, %v", got, err)
	}
	endless := &growingFile{reads: 3, cancel: cancel}
	if _, err := readBounded(ctx, endless, 64<<20, 64<<20); !errors.Is(err, context.Canceled) || endless.reads != 0 {
		t.Errorf("cancelled after 3 reads: %v, %d reads left", err, endless.reads)
	}
}

func BenchmarkLoad300Lines(b *testing.B) {
	name := filepath.Join(b.TempDir(), "file")
	if err := os.WriteFile(name, []byte(strings.Repeat("some words of a line of source code\n", 300)), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Load(context.Background(), name, 1<<20)
		if err != nil || len(s.Hash()) != 64 || s.Total() != 301 {
			b.Fatal(err)
		}
	}
}
