package pi

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deja/session"
	"deja/textfile"
)

// Whatever comes in, every line that goes out is one JSON-RPC message, and the server ends with
// its input (spec 10.4). {dir} stands for the project.
func FuzzServe(f *testing.F) {
	open := `{"jsonrpc":"2.0","id":1,"method":"open","params":{"session":"s","cwd":"{dir}","home":"{dir}","host":{"finalNewline":"separator"}}}` + "\n"
	for _, rest := range []string{
		"", "{", "[]\n5\n\"x\"\nnull\n", "\x00\n\xff\xfe\n", `{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":2,"method":"read","params":{"session":"s","leaf":"","path":"a.txt","offset":"x","limit":1e9}}`,
		`{"jsonrpc":"2.0","id":2,"method":"read","params":{"session":"s","leaf":"a","path":"a.txt:1-2","entries":[{"id":"a","type":"message","role":"user"}]}}`,
		`{"jsonrpc":"2.0","id":"2","method":"entries","params":{"session":"s","entries":[{"id":"a","type":"message","role":"assistant","calls":[{"id":"c","path":"~/x"}]},{"id":"b","parentId":"a","type":"message","role":"toolResult","toolCallId":"c","toolName":"read","readcache":{"v":1},"digest":"00","cut":-1}]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"refresh","params":{"session":"s","line":"a.txt 1-2"}}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":"status","params":{"session":"s","faults":{"x":-1}}}`,
		`{"jsonrpc":"2.0","method":"cancel","params":{"id":2}}` + "\n" + `{"jsonrpc":"2.0","id":4,"method":"close","params":{"session":"s"}}`,
	} {
		f.Add([]byte(open + rest))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(poem), 0o644); err != nil {
			t.Fatal(err)
		}
		in = bytes.ReplaceAll(in, []byte("{dir}"), []byte(dir))
		for line := range bytes.Lines(in) {
			var m struct{ Params OpenParams }
			_ = json.Unmarshal(line, &m)
			if filepath.IsAbs(m.Params.Cwd) && m.Params.Cwd != dir {
				t.Skip("must not write elsewhere")
			}
		}
		converse(t, &Server{MaxMessage: 1 << 16}, string(in))
	})
}

// Whatever a session file holds, it loads or is refused, and what loads can be replayed (spec 5.5).
func FuzzDecode(f *testing.F) {
	lines := []string{user(ids("u", "")), call(ids("a", "u")), result(ids("r", "a"))}
	for version := 1; version <= 3; version++ {
		f.Add([]byte(header(version) + "\n" + strings.Join(lines, "\r\n")))
	}
	f.Add([]byte(header(3) + "\n" + lines[0] + "\n" + `{"type":"context_edit","id":"e","parentId":"u","targetId":"u"}` + "\n{\n\x00"))
	for _, line := range hostileLines(f) {
		f.Add([]byte(header(3) + "\n" + line))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := decode(bytes.NewReader(in), 1<<16)
		if err != nil {
			return
		}
		skipped := s.Skipped
		tree := s.Tree("/p", "/h")
		if n := tree.Len() + s.Skipped - skipped; n != len(s.Entries) {
			t.Errorf("%d entries are %d in the tree and %d skipped", len(s.Entries), tree.Len(), s.Skipped-skipped)
		}
		if _, err := tree.At(s.Leaf); err != nil {
			t.Errorf("the leaf: %v", err)
		}
		for _, e := range s.Entries {
			if _, err := tree.At(e.ID); err != nil {
				t.Errorf("entry %q: %v", e.ID, err)
			}
		}
	})
}

// An entry of any kind, from a host or a file, is replayed or ignored; what is reduced survives
// the wire.
func FuzzEntry(f *testing.F) {
	for _, line := range hostileLines(f) {
		f.Add([]byte(line))
	}
	for _, line := range []string{user(ids("u", "")), call(ids("a", "u")), result(ids("r", "a"))} {
		f.Add([]byte(line))
		raw, _ := json.Marshal(recordOf(json.RawMessage(line)).reduce())
		f.Add(raw)
	}
	paths := pathKeys("/p", "/h", textfile.Pi087)
	f.Fuzz(func(t *testing.T, in []byte) {
		tree := session.New()
		var sent Entry
		if json.Unmarshal(in, &sent) == nil {
			_ = tree.Add(sent.replayed(paths))
		}
		reduced := recordOf(in).reduce()
		raw, err := json.Marshal(reduced)
		if err != nil {
			t.Fatalf("%+v cannot be sent: %v", reduced, err)
		}
		var again Entry
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatalf("%s cannot be read: %v", raw, err)
		}
		raw2, _ := json.Marshal(again)
		if d := cmp.Diff(string(raw), string(raw2)); d != "" {
			t.Errorf("it is another one on the other side:\n%s", d)
		}
		_ = tree.Add(again.replayed(paths))
		_, _ = tree.At(again.ID)
	})
}
