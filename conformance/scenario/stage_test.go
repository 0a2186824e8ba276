package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
)

// stage is where one scenario plays: a fresh session of a pi that other scenarios use before and
// after it, and a folder of its own in the project.
type stage struct {
	*realpi.Pi
	t   *testing.T
	dir string // relative to the project
}

// pool holds pi processes between scenarios. Starting one takes longer than most scenarios.
var pool = struct {
	sync.Mutex
	idle map[realpi.Line][]*realpi.Pi
}{idle: map[realpi.Line][]*realpi.Pi{}}

var stages atomic.Int64

// play runs a scenario against both lines of pi, each in a fresh session with the extension. A
// scenario that kills pi, or needs other options, uses start instead.
func play(t *testing.T, scenario func(s *stage)) {
	t.Helper()
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		p := borrow(t, line)
		s := &stage{Pi: p, t: t, dir: fmt.Sprintf("s%d", stages.Add(1))}
		scenario(s)
		if t.Failed() {
			return // the process may be in any state: it ends with the test
		}
		pool.Lock()
		defer pool.Unlock()
		pool.idle[line] = append(pool.idle[line], p)
	})
}

func borrow(t *testing.T, line realpi.Line) *realpi.Pi {
	t.Helper()
	pool.Lock()
	var p *realpi.Pi
	if n := len(pool.idle[line]); n > 0 {
		p = pool.idle[line][n-1]
		pool.idle[line] = pool.idle[line][:n-1]
	}
	pool.Unlock()
	if p == nil {
		var err error
		p, err = realpi.Start(context.Background(), realpi.Options{Line: line, Extensions: []string{extension(t)}, Env: []string{"DEJA_BIN=" + engine}})
		if err != nil {
			t.Fatal(err)
		}
	} else if err := p.NewSession(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			_ = p.Close()
		}
	})
	return p
}

func closePool() {
	for _, list := range pool.idle {
		for _, p := range list {
			_ = p.Close()
		}
	}
}

// path is the path of a file of the scenario as the model names it, relative to the project.
func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// abs is the absolute path of a file of the scenario.
func (s *stage) abs(name string) string { return filepath.Join(s.Options.Project, s.dir, name) }

// write writes a file of the scenario, as a user's editor would.
func (s *stage) write(name, text string) {
	s.t.Helper()
	pitest.Write(s.t, s.Pi, s.path(name), text)
}

// read has the model read a file and returns what it received.
func (s *stage) read(name string, offsetLimit ...int) string {
	s.t.Helper()
	return pitest.Read(s.t, s.Pi, s.path(name), offsetLimit...)
}

// replace changes a text in a file of the scenario from outside.
func (s *stage) replace(name, old, new string) string {
	s.t.Helper()
	raw, err := os.ReadFile(s.abs(name))
	if err != nil {
		s.t.Fatal(err)
	}
	text := strings.Replace(string(raw), old, new, 1)
	if text == string(raw) {
		s.t.Fatalf("%q is not in %s", old, name)
	}
	s.write(name, text)
	return text
}

// want fails the scenario if the model received something else.
func (s *stage) want(got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("the model received\n%.2000s\nwant\n%.2000s", got, want)
	}
}

// wantClaim fails the scenario unless got is a claim with this text.
func (s *stage) wantStub(got, stub string) {
	s.t.Helper()
	s.want(got, "[readcache: "+stub+"]")
}

// slice returns lines from..to of a text as a read delivers them, without any notice.
func slice(text string, from, to int) string {
	return strings.Join(strings.Split(text, "\n")[from-1:to], "\n")
}
