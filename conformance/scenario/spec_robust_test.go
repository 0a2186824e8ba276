package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// Spec 21.4, 19: "missing base object hash -> fallback full, no crash".
func TestSpec21_19_MissingBaseObject(t *testing.T) {
	play(t, func(s *stage) {
		first := numbered(100)
		s.write("a.txt", first)
		s.want(s.read("a.txt"), first)
		second := s.change("a.txt", "line 50 ", "LINE 50 ")
		s.ok(os.Remove(s.object(first)))
		s.want(s.read("a.txt"), second)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines") // needs no object
		third := s.change("a.txt", "line 20 ", "LINE 20 ")
		s.want(s.read("a.txt"), s.oneLine("a.txt", second, third, 20)) // the fallback was stored
	})
}

// Spec 21.4, 20: "object write collision under concurrency -> no corruption". Processes of both
// lines of pi, in one project, read the same new files at the same time.
func TestSpec21_20_ConcurrentObjectWrites(t *testing.T) {
	t.Parallel()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var all []*stage
	for _, line := range append(realpi.Lines(), realpi.Lines()...) {
		pitest.Require(t, line)
		s := staged(t, start(t, realpi.Options{Line: line, Project: project}))
		s.dir = "shared"
		all = append(all, s)
	}
	const files = 12
	texts := map[string]bool{}
	for round := range 2 {
		var calls []scripted.Call
		var want []string
		for i := range files {
			name, text := fmt.Sprintf("f%d.txt", i), strings.Repeat(fmt.Sprintf("text %d of round %d\n", i, round), 300)
			all[0].write(name, text)
			texts[text] = true
			calls, want = append(calls, scripted.Read(all[0].path(name))), append(want, text)
		}
		together(all, func(s *stage) {
			got, err := s.ReadBatch(t.Context(), calls...)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range got {
				s.want(got[i], want[i]) // the second version shares no line with the first
			}
		})
		if t.Failed() {
			return
		}
	}
	wantStore(t, all[0].store(), texts)
	together(all, func(s *stage) { s.wantStub(s.aside("f3.txt"), "unchanged, 301 lines") })
	text := all[0].change("f3.txt", "text 3", "TEXT 3")
	together(all, func(s *stage) { // and the objects serve as bases for every process
		s.wantDiff(s.aside("f3.txt"), strings.Replace(text, "TEXT 3", "text 3", 1), text)
	})
}

// together runs fn for all stages at once.
func together(all []*stage, fn func(s *stage)) {
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { fn(s) })
	}
	wg.Wait()
}

// aside is read for a goroutine beside the test, which must not end it: an error is the text.
func (s *stage) aside(name string) string {
	text, err := s.Read(s.t.Context(), s.path(name))
	if err != nil {
		return err.Error()
	}
	return text
}

// wantStore fails the test unless the store holds just these texts, each under its hash. The engine
// stores after it answers, so the last ones may take a moment.
func wantStore(t *testing.T, dir string, texts map[string]bool) {
	t.Helper()
	var list []os.DirEntry
	lieWait(t, "the objects", func() bool {
		list, _ = os.ReadDir(dir)
		return len(list) >= len(texts)
	})
	if len(list) != len(texts) {
		t.Errorf("%d objects for %d texts", len(list), len(texts))
	}
	for _, e := range list {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if want := "sha256-" + sha(string(raw)) + ".txt"; e.Name() != want || !texts[string(raw)] {
			t.Errorf("object %s holds a text of hash %s, one of the files: %v", e.Name(), want, texts[string(raw)])
		}
	}
	lieWait(t, "the temporary files to go", func() bool {
		left, _ := os.ReadDir(filepath.Join(filepath.Dir(dir), "tmp"))
		return len(left) == 0
	})
}

// Spec 21.4, 21: "metadata missing/invalid in old entries -> ignored safely".
func TestSpec21_21_InvalidMetadata(t *testing.T) {
	spoil := map[string]func(details, meta entry){
		"missing":                func(d, _ entry) { delete(d, "readcache") },
		"null":                   func(d, _ entry) { d["readcache"] = nil },
		"a text":                 func(d, _ entry) { d["readcache"] = "full" },
		"a list":                 func(d, _ entry) { d["readcache"] = []any{1} },
		"other version":          func(_, m entry) { m["v"] = 2 },
		"no version":             func(_, m entry) { delete(m, "v") },
		"unknown mode":           func(_, m entry) { m["mode"] = "outline" },
		"no mode":                func(_, m entry) { delete(m, "mode") },
		"mode full_fallback":     func(_, m entry) { m["mode"] = "full_fallback" }, // the plan's old name
		"hash of nothing":        func(_, m entry) { m["servedHash"] = "" },
		"short hash":             func(_, m entry) { m["servedHash"] = "abc" },
		"no path":                func(_, m entry) { m["pathKey"] = "" },
		"number as path":         func(_, m entry) { m["pathKey"] = 7 },
		"odd scope":              func(_, m entry) { m["scopeKey"] = "r:5:1" },
		"scope and lines differ": func(_, m entry) { m["scopeKey"] = "r:1:5" },
		"claim without base":     func(_, m entry) { m["mode"] = "unchanged" },
	}
	play(t, func(s *stage) {
		text := numbered(60)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		original, err := s.SessionFile(s.t.Context())
		s.ok(err)
		for name, change := range spoil {
			s.ok(s.SwitchSession(s.t.Context(), original))
			s.rewritten(func(list []entry) []entry {
				e := list[results(list)[0]]
				change(within(e, "message", "details"), metadata(e))
				return list
			})
			if got := s.read("a.txt"); got != text {
				s.t.Errorf("metadata with %s: the model received %.200s", name, got)
			}
			s.wantStub(s.read("a.txt"), "unchanged, 61 lines") // the session goes on
		}
		s.ok(s.SwitchSession(s.t.Context(), original))
		s.rewritten(func(list []entry) []entry { return list })
		s.wantStub(s.read("a.txt"), "unchanged, 61 lines") // unspoiled, the copy is a base
	})
}
