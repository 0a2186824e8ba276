// Package scenario holds the end-to-end scenarios: a real pi, the extension, the engine, real files.
// What the scripted model received is the judge; nothing here looks at the engine's metadata to
// decide what is true.
package scenario

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
)

var engine string // the deja binary under test

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "deja-bin-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		engine = filepath.Join(dir, "deja")
		if out, err := exec.Command("go", "build", "-o", engine, "deja/cmd/deja").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build of deja: %v\n%s", err, out)
			return 1
		}
		defer closePool()
		return m.Run()
	}())
}

// extension returns the entry point of the package pi-readcache.
func extension(t *testing.T) string {
	t.Helper()
	root, err := realpi.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "integrations", "pi", "src", "index.ts")
}

// start starts a pi with the extension and the engine.
func start(t *testing.T, o realpi.Options) *realpi.Pi {
	t.Helper()
	o.Extensions = append([]string{extension(t)}, o.Extensions...)
	o.Env = append([]string{"DEJA_BIN=" + engine}, o.Env...)
	return pitest.Start(t, o)
}

// numbered is a text of n different lines with a final newline; pi counts n+1 lines.
func numbered(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d of the file, with some words to make it worth a cache\n", i)
	}
	return b.String()
}
