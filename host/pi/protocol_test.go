package pi

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deja/readcache"
)

var update = flag.Bool("update", false, "write what the engine answers into docs/protocol.md")

const todo = "buy milk\ncall Bob\nwater the plants\nfeed the cat\n"

// The examples of docs/protocol.md are one conversation, which is held here with a real server.
func TestProtocolExamples(t *testing.T) {
	doc := filepath.Join("..", "..", "docs", "protocol.md")
	raw, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	dir := filepath.Join(home, "shop")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "todo.txt"), []byte(todo), 0o644); err != nil {
		t.Fatal(err)
	}
	here := strings.NewReplacer("/home/ann", home)
	there := strings.NewReplacer(home, "/home/ann")

	c := &conversation{t: t}
	lines := strings.Split(string(raw), "\n")
	asked, answered := 0, 0
	for i, line := range lines {
		switch said := line; {
		case strings.HasPrefix(line, "→ "):
			said = c.fill(strings.TrimPrefix(line, "→ "))
			lines[i] = "→ " + said
			if strings.Contains(said, `"method":"status"`) {
				stored(t, dir) // which is after the answer; the status counts it
			}
			c.say(here.Replace(said))
			asked++
		case strings.HasPrefix(line, "← "):
			got := steady(there.Replace(c.hear()))
			if *update {
				lines[i] = "← " + got
			} else if d := diffJSON(t, strings.TrimPrefix(line, "← "), got); d != "" {
				t.Errorf("docs/protocol.md:%d (-document +engine; go test -run ProtocolExamples -update rewrites it):\n%s", i+1, d)
			}
			c.remember(got)
			answered++
		}
	}
	if asked < 15 || answered < 15 {
		t.Errorf("only %d requests and %d answers were found in the document", asked, answered)
	}
	if rest := c.end(); rest != "" {
		t.Errorf("the engine said more than the document has: %s", rest)
	}
	if *update {
		if err := os.WriteFile(doc, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// stored waits until the version of the file is in the store.
func stored(t *testing.T, dir string) {
	t.Helper()
	name := filepath.Join(dir, readcache.StoreDir, "objects", "sha256-"+readcache.Digest(todo)+".txt")
	for range 1000 {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s is not there", name)
}

// conversation is a client that has not heard ready yet.
type conversation struct {
	t    *testing.T
	c    *client
	meta string // of the first plain read
}

func (c *conversation) hear() string {
	if c.c == nil {
		// dial takes ready off the line; the document has it, so it is asked for apart.
		c.c = dial(c.t, &Server{Version: "1.0.0"})
		var out strings.Builder
		if err := (&Server{Version: "1.0.0"}).Serve(c.t.Context(), strings.NewReader(""), &out); err != nil {
			c.t.Fatal(err)
		}
		return strings.TrimSpace(out.String())
	}
	return strings.TrimSpace(c.c.line())
}

func (c *conversation) say(line string) { c.c.send(line) }

func (c *conversation) end() string {
	if err := c.c.hangUp(); err != nil {
		c.t.Error(err)
	}
	var rest []string
	for line := range c.c.lines {
		rest = append(rest, line)
	}
	return strings.Join(rest, "")
}

// fill puts what the engine answered into the places that a rewrite of the document leaves open.
func (c *conversation) fill(line string) string {
	return strings.NewReplacer(`{meta}`, c.meta, `{digest}`, readcache.Digest(todo)).Replace(line)
}

func (c *conversation) remember(line string) {
	if m := regexp.MustCompile(`"readcache":(\{[^}]*\})`).FindStringSubmatch(line); m != nil && c.meta == "" {
		c.meta = m[1]
	}
}

// steady puts a fixed time in place of the present one.
func steady(line string) string {
	return regexp.MustCompile(`"at":\d+`).ReplaceAllString(line, `"at":1767225600000`)
}

func diffJSON(t *testing.T, want, got string) string {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%q: %v", want, err)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%q: %v", got, err)
	}
	return cmp.Diff(w, g)
}
