package readcache

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deja/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file in testdata. The folder of the test is written as DIR.
func golden(t *testing.T, s *stage, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, s.dir, "DIR") + "\n"
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// eventful plays a session in which everything happens that status counts.
func eventful(t *testing.T) *stage {
	s := newStage(t)
	s.write("a.go", file(120))
	s.write("b.go", file(30))
	s.read("a.go")        // full
	s.read("a.go")        // unchanged
	s.read("b.go", 5, 10) // full
	s.read("b.go", 7, 8)  // unchanged_range
	s.write("a.go", numbered(120, map[int]string{50: "changed"}))
	s.read("a.go")       // diff
	s.read("b.go", 6, 1) // unchanged_range
	s.write("a.go", numbered(120, map[int]string{9: "changed", 50: "changed"}))
	s.read("a.go", 9, 3) // baseline_fallback
	s.store(s.path("c.go"), "something", nil, false)
	return s
}

// spec 8.1, spec 3.7: what status says of a branch, as text and as JSON.
func TestStatus(t *testing.T) {
	s := eventful(t)
	status := s.engine.Status(s.state())
	golden(t, s, "status.txt", status.Text(s.dir))
	raw, err := json.MarshalIndent(status, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, s, "status.json", string(raw))
	golden(t, s, "status_elsewhere.txt", status.Text("/nowhere"))
}

// spec 8.1: of nothing, after a compaction, and of more scopes than fit.
func TestStatusAtTheEdges(t *testing.T) {
	s := newStage(t)
	golden(t, s, "status_empty.txt", s.engine.Status(s.state()).Text(s.dir))
	s = eventful(t)
	s.compact()
	golden(t, s, "status_compacted.txt", s.engine.Status(s.state()).Text(s.dir))
	s = newStage(t)
	s.write("a.go", file(120))
	for i := range 25 {
		s.read("a.go", 1+i, 5)
	}
	golden(t, s, "status_many.txt", s.engine.Status(s.state()).Text(s.dir))
}

// spec 8.1: status comes from the branch alone.
func TestStatusIsThatOfTheBranch(t *testing.T) {
	s := eventful(t)
	want := StatusOf(s.state())
	leaf := s.leaf
	s.leaf = ""
	if got := StatusOf(s.state()); got.Files != 0 || got.Saved != 0 || len(got.Scopes) != 0 {
		t.Errorf("at the root: %+v", got)
	}
	s.leaf = leaf
	if err := os.Remove(s.path("a.go")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, StatusOf(s.state())); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// spec 8.1: files known are files of which something is known. A claim without a base leaves only doubt.
func TestStatusCountsNoFileOfWhichNothingIsKnown(t *testing.T) {
	s := newStage(t)
	s.write("a", file(120))
	s.foreignStub("a", 0, 0)
	if got := StatusOf(s.state()); got.Files != 0 || got.Ignored != 1 {
		t.Errorf("%d files, %d ignored; scopes %v", got.Files, got.Ignored, got.Scopes)
	}
}

// spec 8.1: a store that cannot be read is told, and the rest is shown.
func TestStatusWithoutAStore(t *testing.T) {
	s := newStage(t)
	if err := os.MkdirAll(s.path(".pi"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(".pi/readcache", "not a folder")
	got := s.engine.Status(session.State{})
	if got.StoreError == "" || got.Store != nil || !strings.Contains(got.Text(s.dir), "store: ") {
		t.Errorf("%+v", got)
	}
}
