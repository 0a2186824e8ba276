package textfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A superuser may read everything, so the load runs on a thread that has given
// its file rights away. The thread is never unlocked: it ends with its goroutine.
func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "secret")
	writeFile(t, name, "text")
	for _, folder := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(name, 0); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0)
		}
		_, err := Load(context.Background(), name, 99)
		done <- err
	}()
	if err := <-done; !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v, want permission denied", err)
	}
}

// Files of the kernel say that they are empty, and are not.
func TestLoadSizeZeroFile(t *testing.T) {
	s, err := Load(t.Context(), "/proc/self/status", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if s.Total() < 10 {
		t.Errorf("%d lines", s.Total())
	}
	if _, err := Load(t.Context(), "/proc/self/status", 10); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
}

// What is a file when it is looked at may be a pipe when it is opened.
func TestLoadSwappedForFIFO(t *testing.T) {
	dir := t.TempDir()
	name, file, fifo := filepath.Join(dir, "name"), filepath.Join(dir, "file"), filepath.Join(dir, "fifo")
	writeFile(t, file, "text")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	swap := func(to string) {
		temp := filepath.Join(dir, "temp")
		if os.Symlink(to, temp) != nil || os.Rename(temp, name) != nil {
			t.Error("cannot swap the link")
		}
	}
	swap(file)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				swap(fifo)
				swap(file)
			}
		}
	}()
	loads := make(chan error, 1)
	go func() {
		for range 3000 {
			if _, err := Load(context.Background(), name, 99); err != nil && !errors.Is(err, ErrNotRegular) {
				loads <- err
				return
			}
		}
		loads <- nil
	}()
	select {
	case err := <-loads:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(15 * time.Second):
		t.Error("Load hangs on a pipe")
	}
	close(stop)
	<-stopped
}
