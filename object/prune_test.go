package object

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Of the policy: keep is never removed; the size limit holds
// unless what is left is protected; oldest use goes first; nothing goes without
// a reason.
func TestPruneProperties(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		s := Open(filepath.Join(dir, "store"))
		if err := os.MkdirAll(filepath.Join(s.dir, "objects"), 0o700); err != nil {
			t.Fatal(err)
		}
		type object struct {
			hash       string
			size       int64
			age        time.Duration
			keep, gone bool
		}
		var objects []*object
		n := rapid.IntRange(0, 12).Draw(t, "n")
		for i := range n {
			content := []byte(strings.Repeat(string(rune('a'+i)), rapid.IntRange(1, 200).Draw(t, "size")))
			o := &object{
				hash: Sum(content), size: int64(len(content)),
				age:  time.Duration(rapid.IntRange(0, 72*60).Draw(t, "age")) * time.Minute,
				keep: rapid.IntRange(0, 3).Draw(t, "keep") == 0,
			}
			// Written directly: Put waits for the disk.
			if err := os.WriteFile(file(s, o.hash), content, 0o600); err != nil {
				t.Fatal(err)
			}
			then := now.Add(-o.age)
			if err := os.Chtimes(file(s, o.hash), then, then); err != nil {
				t.Fatal(err)
			}
			objects = append(objects, o)
		}
		hour := func(name string) time.Duration {
			return time.Duration(rapid.IntRange(1, 80).Draw(t, name)) * time.Hour
		}
		p := Policy{MaxBytes: int64(rapid.IntRange(1, 1500).Draw(t, "max bytes")), MaxAge: hour("max age"), MinAge: hour("min age")}
		if rapid.Bool().Draw(t, "no size limit") {
			p.MaxBytes = -1
		}
		if rapid.Bool().Draw(t, "no min age") {
			p.MinAge = -1
		}
		byHash := map[string]*object{}
		for _, o := range objects {
			byHash[o.hash] = o
		}
		res, err := s.Prune(context.Background(), now, p, func(h string) bool { return byHash[h].keep })
		if err != nil {
			t.Fatal(err)
		}

		var want PruneResult
		for _, o := range objects {
			_, err := os.Stat(file(s, o.hash))
			o.gone = err != nil
			if o.gone {
				want.Removed++
				want.RemovedBytes += o.size
			} else {
				want.Kept++
				want.KeptBytes += o.size
			}
		}
		if res != want {
			t.Fatalf("result %+v, on disk %+v", res, want)
		}
		slices.SortFunc(objects, func(a, b *object) int {
			return cmp.Or(cmp.Compare(b.age, a.age), cmp.Compare(a.hash, b.hash))
		})
		free := func(o *object) bool {
			return !o.keep && (p.MinAge < 0 || o.age >= p.MinAge+touchInterval)
		}
		var before int64 // total when Prune came to this object
		for _, o := range objects {
			before += o.size
		}
		for _, o := range objects {
			old := o.age > p.MaxAge+touchInterval
			over := p.MaxBytes >= 0 && before > p.MaxBytes
			switch {
			case o.gone && !free(o):
				t.Fatalf("removed a protected object: %+v under %+v", *o, p)
			case o.gone && !old && !over:
				t.Fatalf("removed without reason: %+v under %+v, total %d", *o, p, before)
			case !o.gone && free(o) && old:
				t.Fatalf("left an object past its age: %+v under %+v", *o, p)
			case !o.gone && free(o) && over:
				t.Fatalf("over %d bytes with an older object left: %+v under %+v", before, *o, p)
			}
			if o.gone {
				before -= o.size
			}
		}
		if p.MaxBytes >= 0 && want.KeptBytes > p.MaxBytes && slices.ContainsFunc(objects, func(o *object) bool { return !o.gone && free(o) }) {
			t.Fatalf("%d bytes left, limit %d, though not all are protected", want.KeptBytes, p.MaxBytes)
		}
	})
}

func TestPruneDefaults(t *testing.T) {
	s := newStore(t)
	now := time.Now()
	for _, c := range []struct {
		content string
		age     time.Duration
		stays   bool
	}{
		{"new", 0, true},
		{"month", 30*24*time.Hour + touchInterval - time.Minute, true},
		{"older", 30*24*time.Hour + touchInterval + time.Minute, false},
		{"kept", 400 * 24 * time.Hour, true},
	} {
		hash := mustPut(t, s, c.content)
		setUsed(t, s, hash, now.Add(-c.age))
		_, err := s.Prune(context.Background(), now, Policy{}, func(h string) bool { return h == Sum([]byte("kept")) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file(s, hash)); (err == nil) != c.stays {
			t.Errorf("%s (age %v): %v, want stays=%v", c.content, c.age, err, c.stays)
		}
	}
}

// The default MinAge protects what may be in use by a process that keep does
// not know of, although the limit is exceeded and although the last use may be
// younger than the mtime says.
func TestPruneMinAgeDefault(t *testing.T) {
	s := newStore(t)
	now := time.Now()
	young, old := mustPut(t, s, "young"), mustPut(t, s, "old")
	setUsed(t, s, young, now.Add(-time.Hour-touchInterval+time.Minute))
	setUsed(t, s, old, now.Add(-time.Hour-touchInterval-time.Minute))
	res, err := s.Prune(context.Background(), now, Policy{MaxBytes: 1}, nil)
	if want := (PruneResult{Removed: 1, RemovedBytes: 3, Kept: 1, KeptBytes: 5}); err != nil || res != want {
		t.Errorf("Prune = %+v, %v; want %+v", res, err, want)
	}
	wantContent(t, s, "young")
	wantError(t, s, old, ErrMissing)
}

// A clock that once was wrong must neither cost an object nor protect it for
// ever.
func TestPruneFutureTimes(t *testing.T) {
	s := newStore(t)
	now := time.Now().Truncate(time.Second)
	hash := mustPut(t, s, "xyz")
	setUsed(t, s, hash, now.Add(1000*time.Hour))
	if _, err := s.Prune(context.Background(), now, Policy{MaxBytes: 1, MinAge: -1}, nil); err != nil {
		t.Fatal(err)
	}
	if got := used(t, s, hash); !got.Equal(now) {
		t.Errorf("last use %v, want %v", got, now)
	}
}

func TestPruneSweepsTmpAndLeavesForeign(t *testing.T) {
	s := newStore(t)
	now := time.Now()
	mustPut(t, s, "x")
	for name, age := range map[string]time.Duration{
		"tmp/put-dead": tmpMaxAge + time.Minute, "tmp/put-live": tmpMaxAge - time.Minute,
		"tmp/from-older-version": 1000 * time.Hour, "objects/notes.md": 1000 * time.Hour,
	} {
		f := filepath.Join(s.dir, name)
		if err := os.WriteFile(f, []byte("data"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	res, err := s.Prune(context.Background(), now, Policy{}, nil)
	if want := (PruneResult{Kept: 1, KeptBytes: 1, TempRemoved: 2}); err != nil || res != want {
		t.Errorf("Prune = %+v, %v; want %+v", res, err, want)
	}
	if got := files(t, s, "tmp"); !slices.Equal(got, []string{"put-live"}) {
		t.Errorf("tmp = %v", got)
	}
	if got := files(t, s, "objects"); len(got) != 2 || got[0] != "notes.md" {
		t.Errorf("objects = %v", got)
	}
}

func TestPruneDue(t *testing.T) {
	s := newStore(t)
	now := time.Now().Truncate(time.Second)
	mustPut(t, s, "x")
	if !s.PruneDue(now, 24*time.Hour) {
		t.Error("not due though never pruned")
	}
	if _, err := s.Prune(context.Background(), now, Policy{}, nil); err != nil {
		t.Fatal(err)
	}
	other := Open(s.dir) // another process
	for after, want := range map[time.Duration]bool{
		0: false, 23 * time.Hour: false, 24 * time.Hour: true, -time.Minute: false, -time.Hour: true,
	} {
		if got := other.PruneDue(now.Add(after), 24*time.Hour); got != want {
			t.Errorf("due %v after a prune: %v, want %v", after, got, want)
		}
	}
}
