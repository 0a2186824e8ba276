// Package pitest runs tests against every installed line of pi.
//
// It knows how to skip, how many pi processes a machine bears, and how to end a
// process with its test; package realpi knows the rest.
package pitest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deja/conformance/realpi"
)

// slots bounds the subtests of Each that run at once in one test binary. Starting
// pi is bound by the processor; more than this only makes timeouts likelier.
var slots = make(chan struct{}, 3)

// Each runs fn as a parallel subtest for every line of pi, at most three at
// once over the whole binary. The parent should call t.Parallel itself. A line
// that is not installed is skipped, or fails if DEJA_REQUIRE_PI=1.
func Each(t *testing.T, fn func(t *testing.T, line realpi.Line)) {
	t.Helper()
	for _, line := range realpi.Lines() {
		t.Run(string(line), func(t *testing.T) {
			t.Parallel()
			Require(t, line)
			slots <- struct{}{}
			t.Cleanup(func() { <-slots })
			fn(t, line)
		})
	}
}

// Require skips the test when the line is not installed, or fails it if
// DEJA_REQUIRE_PI=1.
func Require(t testing.TB, line realpi.Line) {
	t.Helper()
	_, err := realpi.Installed(line)
	switch {
	case err == nil:
	case errors.Is(err, realpi.ErrNotInstalled) && os.Getenv("DEJA_REQUIRE_PI") != "1":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
}

// Start starts pi and closes it with the test.
func Start(t testing.TB, o realpi.Options) *realpi.Pi {
	t.Helper()
	p, err := realpi.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Restart is [realpi.Pi.Restart]; the new process is closed with the test.
func Restart(t testing.TB, p *realpi.Pi, kill bool) *realpi.Pi {
	t.Helper()
	next, err := p.Restart(context.Background(), kill)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	})
	return next
}

// Write writes a file of the project; name is relative to it.
func Write(t testing.TB, p *realpi.Pi, name, text string) {
	t.Helper()
	path := filepath.Join(p.Options.Project, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Read is [realpi.Pi.Read]; an error ends the test.
func Read(t testing.TB, p *realpi.Pi, path string, offsetLimit ...int) string {
	t.Helper()
	text, err := p.Read(context.Background(), path, offsetLimit...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
