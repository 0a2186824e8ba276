package oracle

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The oracle shares no code with what it judges, and looks at nothing but what it is given.
func TestSharesNoCode(t *testing.T) {
	banned := map[string]string{"os": "files", "net/http": "other machines", "os/exec": "other programs", "time": "clocks", "math/rand": "chance", "math/rand/v2": "chance"}
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if (path == "deja" || strings.HasPrefix(path, "deja/")) && !strings.HasPrefix(path, "deja/conformance/") {
				t.Errorf("%s imports %s", name, path)
			}
			if why := banned[path]; why != "" && !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s imports %s: %s", name, path, why)
			}
		}
	}
}
