package object

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// A Put that fails at any step leaves no object, no leftover, and everything
// that was there before. spec 9.2, 1.2
func TestFailedPutLeavesNothing(t *testing.T) {
	boom := errors.New("boom")
	for _, step := range []string{"write", "sync", "rename"} {
		for _, fresh := range []bool{true, false} {
			s := newStore(t)
			if !fresh {
				mustPut(t, s, "earlier")
			}
			s.fault = func(at string) error {
				if at == step {
					return boom
				}
				return nil
			}
			hash := Sum([]byte("new"))
			if err := s.Put(context.Background(), hash, []byte("new")); !errors.Is(err, boom) {
				t.Errorf("%s fails: Put = %v", step, err)
			}
			wantError(t, s, hash, ErrMissing)
			if left := files(t, s, "tmp"); len(left) != 0 {
				t.Errorf("%s fails: left in tmp: %v", step, left)
			}
			s.fault = nil
			if !fresh {
				wantContent(t, s, "earlier")
			}
			mustPut(t, s, "new")
			wantContent(t, s, "new")
		}
	}
}

// No .gitignore, no snapshot.
func TestNoObjectWithoutGitignore(t *testing.T) {
	s := newStore(t)
	s.fault = func(string) error { return errors.New("boom") }
	if err := s.Put(context.Background(), Sum(nil), nil); err == nil {
		t.Error("Put succeeded without .gitignore")
	}
	if got := files(t, s, "objects"); len(got) != 0 {
		t.Errorf("objects = %v", got)
	}
}

// spec 9.2: another writer was first and the system refuses to
// replace its file.
func TestRenameCollision(t *testing.T) {
	for _, rival := range []struct {
		content string
		ok      bool
	}{{"new", true}, {"ne", false}} {
		s := newStore(t)
		mustPut(t, s, "first")
		hash := Sum([]byte("new"))
		s.fault = func(step string) error {
			if step != "rename" {
				return nil
			}
			if err := os.WriteFile(file(s, hash), []byte(rival.content), 0o600); err != nil {
				return err
			}
			return errors.New("sharing violation")
		}
		if err := s.Put(context.Background(), hash, []byte("new")); (err == nil) != rival.ok {
			t.Errorf("rival wrote %q: Put = %v", rival.content, err)
		}
		if left := files(t, s, "tmp"); len(left) != 0 {
			t.Errorf("left in tmp: %v", left)
		}
	}
}

// A marking that finds the object gone (pruned in that moment) must write it.
func TestPutWhileRemoved(t *testing.T) {
	s := newStore(t)
	hash := mustPut(t, s, "x")
	root, err := s.openForWrite()
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	info, err := root.Lstat(objectPath(hash))
	if err != nil {
		t.Fatal(err)
	}
	if !s.markUsed(root, hash, info) {
		t.Error("markUsed = false with the object there")
	}
	if err := os.Remove(file(s, hash)); err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return info.ModTime().Add(touchInterval) }
	if s.markUsed(root, hash, info) {
		t.Error("markUsed = true with the object gone")
	}
}

func TestErrorsNameTheObject(t *testing.T) {
	s := newStore(t)
	hash := Sum(nil)
	_, err := s.Get(context.Background(), hash)
	if err == nil || !strings.Contains(err.Error(), hash) {
		t.Errorf("Get error %v does not name the object", err)
	}
}
