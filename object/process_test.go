package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// roles are what this test binary can be started as, instead of running tests.
// A role gets the store folder and fails the test with its error.
var roles = map[string]func(dir string) error{
	"writer": forever(write), "reader": forever(read), "looker": forever(look),
	"pruner": forever(prune), "vandal": forever(vandalize),
}

const roleVar = "DEJA_OBJECT_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := roles[role](os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		os.Exit(3)
	}
	os.Exit(0)
}

func command(role, dir string, stderr *bytes.Buffer) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe, dir)
	// Without the setting, a process built with the race detector takes a
	// second to exit.
	cmd.Env = append(os.Environ(), roleVar+"="+role, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = stderr
	return cmd
}

// runRole runs one process to its end.
func runRole(t *testing.T, role, dir string) {
	t.Helper()
	var stderr bytes.Buffer
	if err := command(role, dir, &stderr).Run(); err != nil {
		t.Fatalf("%s: %v\n%s", role, err, stderr.String())
	}
}

func forever(step func(s *Store) error) func(string) error {
	return func(dir string) error {
		s := Open(dir)
		for {
			if err := step(s); err != nil {
				return err
			}
		}
	}
}

// snapshots are the contents that all processes know: small, page-sized and
// large enough that writing one takes several turns of the scheduler.
func snapshot(i int) []byte {
	size := []int{0, 17, 4096, 70_000, 1 << 20}[i%5]
	return bytes.Repeat([]byte{byte('A' + i)}, size+i)
}

func randomSnapshot() []byte { return snapshot(rand.IntN(25)) }

func write(s *Store) error {
	content := randomSnapshot()
	return s.Put(context.Background(), Sum(content), content)
}

func read(s *Store) error {
	want := randomSnapshot()
	got, err := s.Get(context.Background(), Sum(want))
	switch {
	case errors.Is(err, ErrMissing), errors.Is(err, ErrCorrupt):
		return nil
	case err != nil:
		return err
	case !bytes.Equal(got, want):
		return fmt.Errorf("WRONG CONTENT: %d bytes, want %d", len(got), len(want))
	}
	return nil
}

// look reads past the store: as the older extension does, which verifies
// nothing. What is under the name must be whole at any moment.
func look(s *Store) error {
	want := randomSnapshot()
	got, err := os.ReadFile(file(s, Sum(want)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("TORN OBJECT: %d bytes, want %d", len(got), len(want))
	}
	return nil
}

func prune(s *Store) error {
	time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
	_, err := s.Prune(context.Background(), time.Now(), Policy{MaxBytes: 2 << 20, MinAge: -1}, nil)
	return err
}

// vandalize damages an object in place.
func vandalize(s *Store) error {
	time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
	f, err := os.OpenFile(file(s, Sum(randomSnapshot())), os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	switch info, _ := f.Stat(); rand.IntN(3) {
	case 0:
		_ = f.Truncate(info.Size() / 2)
	case 1:
		_, _ = f.WriteAt([]byte("!"), info.Size()/3)
	case 2:
		_, _ = f.WriteAt([]byte("!"), info.Size())
	}
	return nil
}

// Many processes write, read and prune one folder and are killed at random
// moments, in the middle of a write too. No reader ever sees anything but the
// right bytes or a miss (spec 9.2, 9.3).
func TestManyProcesses(t *testing.T) {
	for name, crew := range map[string][]string{
		"honest":      {"writer", "writer", "writer", "reader", "looker", "pruner", "pruner"},
		"with vandal": {"writer", "writer", "reader", "reader", "pruner", "vandal"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			stop := time.Now().Add(1500 * time.Millisecond)
			var wg sync.WaitGroup
			var mu sync.Mutex
			killed := 0
			for _, role := range crew {
				wg.Go(func() {
					for time.Now().Before(stop) && !t.Failed() {
						if errText := runAndKill(role, s.dir); errText != "" {
							t.Errorf("%s", errText)
						}
						mu.Lock()
						killed++
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			t.Logf("%d processes killed", killed)
			checkAfter(t, s)
		})
	}
}

// runAndKill starts a process that would run for ever and kills it. It returns
// what the process said if it ended by itself.
func runAndKill(role, dir string) string {
	var stderr bytes.Buffer
	cmd := command(role, dir, &stderr)
	if err := cmd.Start(); err != nil {
		return err.Error()
	}
	timer := time.AfterFunc(time.Duration(20+rand.IntN(150))*time.Millisecond, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		return stderr.String()
	}
	if strings.Contains(stderr.String(), "panic") || strings.Contains(stderr.String(), "DATA RACE") {
		return stderr.String()
	}
	return ""
}

// checkAfter: the store still works, and the leftovers of the dead go.
func checkAfter(t *testing.T, s *Store) {
	t.Helper()
	for i := range 25 {
		content := snapshot(i)
		// What a vandal left may have the right size; one Get finds it.
		if _, err := s.Get(context.Background(), Sum(content)); err != nil && !errors.Is(err, ErrMissing) && !errors.Is(err, ErrCorrupt) {
			t.Errorf("snapshot %d: %v", i, err)
		}
		mustPut(t, s, string(content))
		wantContent(t, s, string(content))
	}
	later := time.Now().Add(2 * tmpMaxAge)
	if _, err := s.Prune(context.Background(), later, Policy{}, nil); err != nil {
		t.Error(err)
	}
	if left := files(t, s, "tmp"); len(left) != 0 {
		t.Errorf("left in tmp after the sweep: %v", left)
	}
	st, err := s.Stats()
	if err != nil || st.Objects != 25 || st.Foreign != 0 {
		t.Errorf("Stats = %+v, %v; want 25 objects", st, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, ".gitignore")); err != nil {
		t.Error(err)
	}
}

// The same within one process, for the race detector.
func TestManyGoroutines(t *testing.T) {
	s := newStore(t)
	stop := time.Now().Add(time.Second)
	var wg sync.WaitGroup
	for _, step := range []func(*Store) error{write, write, read, read, look, prune, prune} {
		wg.Go(func() {
			for time.Now().Before(stop) {
				if err := step(s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
