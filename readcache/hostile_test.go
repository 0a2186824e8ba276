package readcache

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deja/config"
	"deja/session"
	"deja/textfile"
	"deja/trust"
)

// spec 9.4: a link that is pointed at a secret between the look at it and the read.
func TestSecretsAreNotKeptInARace(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{".env": "SECRET=" + strings.Repeat("x", 300) + "\n", "ok.txt": strings.Repeat("fine\n", 50)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	flip := func(to string) error {
		if err := os.Symlink(to, link+".new"); err != nil {
			return err
		}
		return os.Rename(link+".new", link)
	}
	if err := flip("ok.txt"); err != nil {
		t.Skip("no links here: ", err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = flip([]string{"ok.txt", ".env"}[i%2])
			}
		}
	}()
	e := New(Options{Dir: dir, Home: dir, Dialect: textfile.Pi087, Config: config.Default()})
	kept, n := 0, 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); n++ {
		d := e.Decide(context.Background(), session.State{}, Request{Path: "link"})
		if d.keep != nil && strings.HasPrefix(string(d.keep.Bytes()), "SECRET") {
			kept++
		}
	}
	close(stop)
	<-stopped
	if kept > 0 || n < 100 {
		t.Errorf("%d of %d decisions kept the secret", kept, n)
	}
}

// spec 3.4: metadata that says 5 lines of a version of 100 lines does not make 5 lines the whole of it.
func TestForgedLengthIsNoWhole(t *testing.T) {
	s := newStage(t)
	s.write("f.txt", strings.Repeat("some line of text\n", 99))
	snap, err := textfile.Load(context.Background(), s.path("f.txt"), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	text := "whatever the model saw"
	raw, err := json.Marshal(Meta{
		V: 1, PathKey: s.path("f.txt"), ScopeKey: "r:1:5", ServedHash: snap.Hash(), Mode: trust.ModeFull,
		TotalLines: 5, RangeStart: 1, RangeEnd: 5, Digest: Digest(text)[:digestLen],
	})
	if err != nil {
		t.Fatal(err)
	}
	read, _, _ := Evidence(raw, Stored{Digest: Digest(text)})
	s.add(session.Entry{Kind: session.Assistant, Calls: []session.Call{{ID: "c", Paths: []string{s.path("f.txt")}}}})
	s.add(session.Entry{Kind: session.Result, CallID: "c", IsRead: true, Read: read})
	s.plain(s.decide(request("f.txt")), ReasonUnproven, trust.ModeFallback, "full")
}
