package scenario

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// fakeEngine builds testdata/fakeengine once and returns the program.
func fakeEngine(t testing.TB) string {
	t.Helper()
	file, err := buildFake()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var buildFake = sync.OnceValues(func() (string, error) {
	file := filepath.Join(filepath.Dir(engine), "fakeengine") // TestMain removes the folder
	out, err := exec.Command("go", "build", "-o", file, "./testdata/fakeengine").CombinedOutput()
	if err != nil {
		return "", &os.PathError{Op: "build", Path: string(out), Err: err}
	}
	return file, nil
})

// A faked is a stage whose pi has a fake engine that takes orders from the test.
type faked struct {
	*stage
	orders string
	told   func() []string // what deja told the user in this scenario
}

// playFake is play with a fake engine, which fails as mode says; see testdata/fakeengine.
func playFake(t *testing.T, mode string, scenario func(f faked)) {
	t.Helper()
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		s := pooled(t, "fake "+line, func() realpi.Options {
			orders, err := os.MkdirTemp(filepath.Dir(engine), "orders")
			if err != nil {
				t.Fatal(err)
			}
			env := []string{"DEJA_BIN=" + fakeEngine(t), "FAKE_REAL=" + engine, "FAKE_DIR=" + orders}
			return realpi.Options{Line: line, Extensions: []string{extension(t)}, Env: env}
		})
		f := faked{s, "", s.hear()}
		for _, v := range s.Options.Env {
			if dir, ok := strings.CutPrefix(v, "FAKE_DIR="); ok {
				f.orders = dir
			}
		}
		old, err := filepath.Glob(filepath.Join(f.orders, "*"))
		f.ok(err)
		for _, file := range old {
			f.ok(os.Remove(file))
		}
		f.order("mode", mode)
		scenario(f)
	})
}

// order leaves an order for the fake engine; it is seen whole or not at all.
func (f faked) order(name, content string) {
	f.t.Helper()
	temp := filepath.Join(f.orders, "new")
	f.ok(os.WriteFile(temp, []byte(content), 0o600))
	f.ok(os.Rename(temp, filepath.Join(f.orders, name)))
}

// swapDuring lets a writer replace a file between the engine's look at it and pi's.
func (f faked) swapDuring(name, text string) {
	f.t.Helper()
	f.order("target", f.abs(name))
	f.order("swap", text)
}

// Class 44, "bytes served and bytes hashed are two reads": the file changes between the engine's
// snapshot and pi's own read, and later changes back.
func TestLie44_ChangedBetweenTwoReads(t *testing.T) {
	playFake(t, "proxy", func(f faked) {
		a, b := numbered(100), strings.ToUpper(numbered(90))
		for name, read := range map[string]func(name string) (got, ofA, ofB string){
			"full.txt": func(name string) (string, string, string) { return f.read(name), a, b },
			"lines.txt": func(name string) (string, string, string) {
				return f.read(name, 10, 20), part(a, 10, 29), part(b, 10, 29)
			},
		} {
			// Back to what the engine saw: the model never got that.
			f.write(name, a)
			f.swapDuring(name, b)
			got, _, ofB := read(name)
			f.want(got, ofB)
			f.write(name, a)
			got, ofA, _ := read(name)
			f.want(got, ofA)
			if got, _, _ = read(name); !strings.HasPrefix(got, "[readcache: unchanged") {
				f.t.Errorf("%s: no claim after a read without a race: %.100s", name, got)
			}
			// And as it is now: the model got b, but nobody vouches for it.
			f.swapDuring("other-"+name, b)
			f.write("other-"+name, a)
			got, _, ofB = read("other-" + name)
			f.want(got, ofB)
			got, _, ofB = read("other-" + name)
			f.want(got, ofB)
			if got, _, _ = read("other-" + name); !strings.HasPrefix(got, "[readcache: unchanged") {
				f.t.Errorf("%s: no claim after a read without a race: %.100s", name, got)
			}
		}
	})
}

// Class 44 with a base: the racing read falls between two versions that the model does have.
func TestLie44_ChangedDuringFallback(t *testing.T) {
	playFake(t, "proxy", func(f faked) {
		a, b, c := numbered(100), strings.ToUpper(numbered(100)), strings.Repeat("entirely different\n", 80)
		f.write("a.txt", a)
		f.want(f.read("a.txt"), a)
		f.stored(a)
		f.write("a.txt", b) // no useful diff: the engine says "plain"
		f.swapDuring("a.txt", c)
		f.want(f.read("a.txt"), c)
		f.write("a.txt", a) // what the model had before the race; c has been shown since
		f.want(f.read("a.txt"), a)
		f.write("a.txt", b)
		f.want(f.read("a.txt"), b)
		f.wantStub(f.read("a.txt"), "unchanged, 101 lines")
	})
}

// Class 44 for a claim: it is about the snapshot that was compared. What comes after is the next
// read's business.
func TestLie44_ChangedDuringClaim(t *testing.T) {
	playFake(t, "proxy", func(f faked) {
		text := numbered(100)
		changed := strings.Replace(text, "line 50 ", "LINE 50 ", 1)
		f.write("a.txt", text)
		f.want(f.read("a.txt"), text)
		f.stored(text)
		f.swapDuring("a.txt", changed)
		f.wantStub(f.read("a.txt"), "unchanged, 101 lines")
		f.wantDiff(f.read("a.txt"), text, changed)
		f.wantStub(f.read("a.txt"), "unchanged, 101 lines")
	})
}

// Class 19, aborted while the engine is still at it.
func TestLie19_AbortedInTheEngine(t *testing.T) {
	playFake(t, "proxy", func(f faked) {
		text := numbered(100)
		f.write("a.txt", text)
		f.order("hold", "")
		run, err := f.Prompt(bg, "read", scripted.Do(scripted.Read(f.path("a.txt"))))
		f.ok(err)
		lieWait(f.t, "the read to be held", func() bool { return exists(filepath.Join(f.orders, "held")) })
		// pi answers when the tool is done, and the engine is given up after two seconds.
		released := time.AfterFunc(700*time.Millisecond, func() { _ = os.Remove(filepath.Join(f.orders, "hold")) })
		defer released.Stop()
		f.ok(f.Abort(bg))
		_, err = run.Wait(bg)
		f.ok(err)
		if f.say("and now?").Contains("line 50 of the file") {
			f.t.Fatal("the aborted read is in the next request: it shows nothing")
		}
		f.want(f.read("a.txt"), text)
		f.wantStub(f.read("a.txt"), "unchanged, 101 lines")
	})
}
