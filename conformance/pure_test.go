package conformance

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// spec 1.3: trust and replay are functions of the entries alone. The packages cannot look at anything else,
// because nothing that could is imported. Third-party packages are not followed: what they need
// for printing (fmt imports os) is never handed a file or a clock by us.
func TestPureCore(t *testing.T) {
	pure(t, "trust")
	pure(t, "session", "deja/trust")
}

// pure checks the package in a folder of the project; of ours it may import only those.
func pure(t *testing.T, folder string, ours ...string) {
	t.Helper()
	banned := map[string]string{
		"os":        "files and environment: the disk is not what the model has",
		"io/fs":     "files",
		"net":       "other machines",
		"net/http":  "other machines",
		"os/exec":   "other programs",
		"syscall":   "everything",
		"unsafe":    "everything",
		"time":      "clocks: an answer must be the same tomorrow",
		"math/rand": "chance: the same state gives the same text (spec 1.6)", "math/rand/v2": "chance", "crypto/rand": "chance",
		"log": "output: the caller sees all there is to see", "log/slog": "output",
		"sync": "shared state: states are values", "context": "cancelling: half an answer is none",
	}
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if why, found := banned[path]; found {
				t.Errorf("%s imports %s: %s", name, path, why)
			}
			if strings.HasPrefix(path, "deja/") && !slices.Contains(ours, path) {
				t.Errorf("%s imports %s: %s knows no package of ours but %v", name, path, folder, ours)
			}
		}
	}
}
