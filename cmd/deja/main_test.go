package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the scripts with what the commands print now")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"deja": func() {
		version = "1.2.3-test"
		main()
	}})
}

// The scripts in testdata/script say what a user sees; each has a home and a project of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("USERPROFILE", filepath.Join(e.WorkDir, "home"))
			e.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each process, under -race
			// What pi calls the folder of the sessions of $WORK/project.
			e.Setenv("SESSIONS", strings.ReplaceAll(strings.TrimPrefix(filepath.ToSlash(e.WorkDir), "/"), "/", "-")+"-project")
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"version-of": storeVersion,
			"aged":       aged,
			"status-is":  statusIs,
		},
	})
}

// version-of FILE STORE puts FILE into a store as the engine does and sets $hash.
func storeVersion(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	objects := filepath.Join(ts.MkAbs(args[1]), "objects")
	ts.Check(os.MkdirAll(objects, 0o700))
	ts.Check(os.WriteFile(filepath.Join(objects, "sha256-"+hash+".txt"), []byte(text), 0o600))
	ts.Setenv("hash", hash)
}

// aged DAYS FILE... sets the times of files back.
func aged(ts *testscript.TestScript, _ bool, args []string) {
	var days int
	_, err := fmt.Sscan(args[0], &days)
	ts.Check(err)
	at := time.Now().Add(-time.Duration(days) * 24 * time.Hour)
	for _, pattern := range args[1:] {
		names, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		if len(names) == 0 {
			ts.Fatalf("no file %s", pattern)
		}
		for _, name := range names {
			ts.Check(os.Chtimes(name, at, at))
		}
	}
}

// status-is N COMMAND ARG... checks the exit status and that nothing but an error of one line, if
// any, is on standard error.
func statusIs(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
	if stderr := ts.ReadFile("stderr"); strings.Count(stderr, "\n") > 1 || (stderr != "" && !strings.HasPrefix(stderr, "deja: ")) {
		ts.Fatalf("standard error is not one line \"deja: …\": %q", stderr)
	}
}
