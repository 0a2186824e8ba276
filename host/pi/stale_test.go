package pi

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deja/config"
	"deja/readcache"
	"deja/session"
	"deja/textfile"
)

// A stale view: the model saw H1, then H2 in a way that left no trust, and the file is H1 again. To
// say "unchanged" would tell it that H2 is still there (spec 1.1, 4.5).
type staleView struct {
	t    *testing.T
	dir  string
	opts readcache.Options
	tree *session.Tree
	all  []Entry
	leaf string
}

func newStaleView(t *testing.T, dir string, d textfile.Dialect) *staleView {
	return &staleView{
		t: t, dir: dir, tree: session.New(),
		opts: readcache.Options{Dir: dir, Home: dir, Dialect: d, Config: config.Default()},
	}
}

func (v *staleView) add(e Entry) string {
	v.t.Helper()
	if e.Type == "" {
		e.Type = "message"
	}
	e.ID, e.Parent = fmt.Sprint("e", len(v.all)), v.leaf
	v.all = append(v.all, e)
	if err := v.tree.Add(e.replayed(pathKeys(v.dir, v.dir, v.opts.Dialect))); err != nil {
		v.t.Fatal(err)
	}
	v.leaf = e.ID
	return e.ID
}

// elsewhere is the same session replayed by another process, in another folder.
func (v *staleView) elsewhere(dir string) *staleView {
	o := newStaleView(v.t, dir, v.opts.Dialect)
	for _, e := range v.all {
		o.add(e)
	}
	return o
}

// read reads a file; without metadata it is as if the engine had not been there. It returns the
// answer, "" for the plain read, and the entry of the call.
func (v *staleView) read(path string, metadata bool) (answer, call string) {
	v.t.Helper()
	id := fmt.Sprint("c", len(v.all))
	call = v.add(Entry{Role: "assistant", Calls: []Call{{ID: id, Path: path}}})
	at, err := v.tree.At(v.leaf)
	if err != nil {
		v.t.Fatal(err)
	}
	e := readcache.New(v.opts)
	d := e.Decide(context.Background(), at, readcache.Request{Path: path})
	if err := e.Keep(context.Background(), d); err != nil {
		v.t.Fatal(err)
	}
	result := Entry{Role: "toolResult", CallID: id, Tool: "read", Digest: readcache.Digest(d.Text)}
	if d.Plain != nil {
		result.Digest = d.Plain.Expect
	}
	if metadata && d.Meta != nil {
		result.Meta, _ = json.Marshal(d.Meta)
	}
	v.add(result)
	return d.Text, call
}

func (v *staleView) write(path, version string) {
	v.t.Helper()
	if err := os.WriteFile(path, []byte(strings.Repeat("a line of version "+version+"\n", 40)), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

func (v *staleView) wantPlain(path string) {
	v.t.Helper()
	if answer, _ := v.read(path, true); answer != "" {
		v.t.Errorf("read of %s: %q, but the last the model saw of it was H2", path, answer)
	}
}

// spec 5.4: pi 0.87 leaves a result in the context when the message with its call is edited out.
func TestStaleAfterTheCallIsOmitted(t *testing.T) {
	v := newStaleView(t, t.TempDir(), textfile.Pi087)
	file := filepath.Join(v.dir, "f.txt")
	v.write(file, "H1")
	v.read("f.txt", true)
	v.write(file, "H2")
	_, call := v.read("f.txt", true)
	v.add(Entry{Type: "context_edit", Target: call, Omit: true})
	v.write(file, "H1")
	v.wantPlain("f.txt")
}

// spec 1.3, 4.5: what a read without metadata was about does not depend on where it is replayed.
func TestStaleAfterForkIntoAnotherFolder(t *testing.T) {
	v := newStaleView(t, t.TempDir(), textfile.Pi087)
	file := filepath.Join(v.dir, "f.txt")
	v.write(file, "H1")
	v.read("f.txt", true)
	v.write(file, "H2")
	v.read("f.txt", false)
	v.write(file, "H1")
	v.elsewhere(t.TempDir()).wantPlain(file)
	v.wantPlain(file)
}

// spec 1.3, 4.5: nor on what is on the disk at that time, nor on how the name was spelled.
func TestStaleUnderAnotherSpelling(t *testing.T) {
	for _, spelled := range []string{"it's.txt", "file://%s/it%%27s.txt", "IT'S.TXT"} {
		v := newStaleView(t, t.TempDir(), textfile.Pi087)
		file := filepath.Join(v.dir, "it\u2019s.txt")
		v.write(file, "H1")
		v.read("it's.txt", true)
		v.write(file, "H2")
		if strings.Contains(spelled, "%s") {
			spelled = fmt.Sprintf(spelled, v.dir)
		}
		v.read(spelled, false)
		if err := os.Remove(file); err != nil { // while it is replayed, the file is not there
			t.Fatal(err)
		}
		again := v.elsewhere(v.dir)
		v.write(file, "H1")
		again.wantPlain("it's.txt")
	}
}

// spec 2.3: one file by two absolute paths that only differ in how they are written.
func TestStaleUnderAnAlias(t *testing.T) {
	for _, d := range []textfile.Dialect{textfile.Pi073, textfile.Pi087} {
		v := newStaleView(t, t.TempDir(), d)
		file := filepath.Join(v.dir, "f.txt")
		v.write(file, "H1")
		v.read(file, true)
		v.write(file, "H2")
		v.read(v.dir+"/./f.txt", true)
		v.write(file, "H1")
		if answer, _ := v.read(file, true); strings.Contains(answer, "unchanged") {
			t.Errorf("%+v: %q", d, answer)
		}
	}
}

// spec 5.1: a pruning extension leaves an edit for each result; replaying them is no more work than
// replaying the results. It took 22 seconds when each edit was replayed by itself.
func TestManyEditsAreCheap(t *testing.T) {
	const n = 2000
	v := newStaleView(t, t.TempDir(), textfile.Pi087)
	h := strings.Repeat("a", 64)
	var results []string
	for i := range n {
		v.add(Entry{Role: "assistant", Calls: []Call{{ID: fmt.Sprint(i), Path: fmt.Sprint("f", i)}}})
		meta := fmt.Sprintf(`{"v":1,"pathKey":"/p/f%d","scopeKey":"full","servedHash":%q,"mode":"full","totalLines":5,"rangeStart":1,"rangeEnd":5,"bytes":48,"digest":%q}`, i, h, h[:32])
		results = append(results, v.add(Entry{Role: "toolResult", CallID: fmt.Sprint(i), Tool: "read", Digest: h, Meta: json.RawMessage(meta)}))
	}
	start := time.Now()
	for _, id := range results[1:] {
		v.add(Entry{Type: "context_edit", Target: id})
	}
	at, err := v.tree.At(v.leaf)
	if err != nil || len(at.Trust.All()) != 1 {
		t.Errorf("%d paths are known after all but one result were replaced (%v)", len(at.Trust.All()), err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("%d edits took %s", n, took)
	}
}
