package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/scripted"
)

// staged makes a stage of a pi that a scenario has started itself.
func staged(t *testing.T, p *realpi.Pi) *stage {
	return &stage{Pi: p, t: t, dir: fmt.Sprintf("s%d", stages.Add(1))}
}

// ok ends the scenario on an error.
func (s *stage) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// part is what a read of the lines from..to delivers when a limit ends it before the file ends.
func part(text string, from, to int) string {
	total := 1 + strings.Count(text, "\n")
	return slice(text, from, to) + fmt.Sprintf("\n\n[%d more lines in file. Use offset=%d to continue.]", total-to, to+1)
}

// oneLine is the diff of two texts that differ in line n only, three lines or more from either end.
func (s *stage) oneLine(name, before, after string, n int) string {
	line := func(text string, i int) string { return slice(text, i, i) + "\n" }
	p := filepath.ToSlash(s.path(name))
	var b strings.Builder
	fmt.Fprintf(&b, "[readcache: 1 lines changed of %d]\n--- a/%s\n+++ b/%s\n@@ -%d,7 +%d,7 @@\n", 1+strings.Count(after, "\n"), p, p, n-3, n-3)
	for i := n - 3; i <= n+3; i++ {
		if i == n {
			b.WriteString("-" + line(before, i) + "+" + line(after, i))
			continue
		}
		b.WriteString(" " + line(before, i))
	}
	return b.String()
}

// here is the id of the leaf.
func (s *stage) here() string {
	s.t.Helper()
	id, err := s.Leaf(s.t.Context())
	s.ok(err)
	return id
}

// jump moves the leaf as /tree does.
func (s *stage) jump(id string) {
	s.t.Helper()
	s.ok(s.Tree(s.t.Context(), id))
}

// compacted compacts by hand and returns what pi said of it.
func (s *stage) compacted() realpi.Compaction {
	s.t.Helper()
	c, err := s.Compact(s.t.Context())
	s.ok(err)
	return c
}

// command runs a command of an extension and returns what the user was told.
func (s *stage) command(line string) string {
	s.t.Helper()
	notes, err := s.Command(s.t.Context(), line)
	s.ok(err)
	var texts []string
	for _, n := range notes {
		texts = append(texts, n.Message)
	}
	return strings.Join(texts, "\n")
}

// say is a prompt that the model answers without a tool.
func (s *stage) say(prompt string) scripted.Request {
	s.t.Helper()
	res, err := s.Run(s.t.Context(), prompt, scripted.Say("fine"))
	s.ok(err)
	req, ok := res.Last()
	if !ok {
		s.t.Fatal("no request")
	}
	return req
}

// fails has the model read a file, wants an error result, and returns its text.
func (s *stage) fails(path string, offsetLimit ...int) string {
	s.t.Helper()
	var o [2]int
	copy(o[:], offsetLimit)
	res, err := s.Run(s.t.Context(), "please read", scripted.Do(scripted.ReadRange(path, o[0], o[1])))
	s.ok(err)
	if isErr, found := res.IsError(res.Calls[0].ID); !isErr || !found {
		s.t.Errorf("read %s %v: IsError = %v, %v; want an error", path, offsetLimit, isErr, found)
	}
	text, _ := res.Received(res.Calls[0].ID)
	return text
}

// store is the folder of the project's objects.
func (s *stage) store() string {
	return filepath.Join(s.Options.Project, ".pi", "readcache", "objects")
}

// object is the file of a text in the store.
func (s *stage) object(text string) string {
	return filepath.Join(s.store(), "sha256-"+sha(text)+".txt")
}

// change is replace for a version that has been read: it waits until the engine has stored that, so
// that it can be compared with.
func (s *stage) change(name, old, new string) string {
	s.t.Helper()
	raw, err := os.ReadFile(s.abs(name))
	s.ok(err)
	s.stored(string(raw))
	return s.replace(name, old, new)
}

// entry is a session entry as JSON.
type entry = map[string]any

// rewritten copies the session, lets change work on the entries, and switches to the copy, which
// is a session of its own. The copy is one branch: each entry follows the one before it.
func (s *stage) rewritten(change func(list []entry) []entry) {
	s.t.Helper()
	file, err := s.SessionFile(s.t.Context())
	s.ok(err)
	raw, err := os.ReadFile(file)
	s.ok(err)
	var list []entry
	for line := range bytes.Lines(raw) {
		var e entry
		s.ok(json.Unmarshal(line, &e))
		list = append(list, e)
	}
	s.resume(list[0], change(list[1:]))
}

// resume writes a session file with this header and these entries and switches to it.
func (s *stage) resume(header entry, list []entry) {
	s.t.Helper()
	at, err := s.SessionFile(s.t.Context())
	s.ok(err)
	n := stages.Add(1)
	header["id"] = fmt.Sprintf("01a00000-0000-7000-8000-%012d", n)
	parent := any(nil)
	var b bytes.Buffer
	for i, e := range append([]entry{header}, list...) {
		if i > 0 {
			e["parentId"], parent = parent, e["id"]
		}
		line, err := json.Marshal(e)
		s.ok(err)
		b.Write(append(line, '\n'))
	}
	file := filepath.Join(filepath.Dir(at), fmt.Sprintf("2026-01-01T00-00-00-000Z_%s.jsonl", header["id"]))
	s.ok(os.WriteFile(file, b.Bytes(), 0o600))
	s.ok(s.SwitchSession(s.t.Context(), file))
}

// compaction is an entry of a compaction that keeps the messages from an entry on.
func compaction(firstKept string) entry {
	return entry{
		"type": "compaction", "id": fmt.Sprintf("c%07d", stages.Add(1)), "timestamp": "2026-01-01T00:00:00.000Z",
		"summary": "A summary.", "firstKeptEntryId": firstKept, "tokensBefore": 1000,
	}
}

// results are the indexes of the results of the tool read.
func results(list []entry) []int {
	var at []int
	for i, e := range list {
		if m, ok := e["message"].(entry); ok && m["toolName"] == "read" {
			at = append(at, i)
		}
	}
	return at
}

// within is the object under these names. Where there is none it is an empty one, so that a scenario
// that finds less than it should fails and does not panic.
func within(e entry, names ...string) entry {
	for _, name := range names {
		e, _ = e[name].(entry)
	}
	if e == nil {
		e = entry{}
	}
	return e
}

// metadata is details.readcache of a read result.
func metadata(e entry) entry { return within(e, "message", "details", "readcache") }

// insert puts entries into a list, before index i.
func insert(list []entry, i int, more ...entry) []entry {
	return append(append(append([]entry{}, list[:i]...), more...), list[i:]...)
}
