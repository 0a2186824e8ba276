package pi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deja/readcache"
	"deja/session"
)

func replay(t *testing.T, f *File) session.State {
	t.Helper()
	at, err := f.Tree(f.Cwd, "/home/nobody").At(f.Leaf)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// The six published sessions load whole and replay. They were made without a read cache, so
// nothing in them is proven (spec 3.6), and every read that succeeded is counted.
func TestRealSessions(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "sessions")
	for name, want := range map[string]struct {
		version, entries, unproven int // unproven since the last compaction
	}{
		"badlogic__pi-mono__d703a1a9-1b7b-4fb1-b512-c9738b1fe617.jsonl": {1, 1018, 50},
		"badlogic__pi-mono__ffae836b-9420-4060-ac13-7745215f90ff.jsonl": {1, 1002, 46},
		"raquezha__pi.dev__019da84b-b5b8-706b-bdd2-4179522668f4.jsonl":  {3, 141, 10},
		"raquezha__pi.dev__019db951-7f85-739b-97fb-19aadec3f521.jsonl":  {3, 15, 3},
		"raquezha__pi.dev__019dbe19-ca83-74b3-b3ca-230160eb3875.jsonl":  {3, 237, 6},
		"raquezha__pi.dev__019dc52b-c801-71e1-96ba-8bf69044a10c.jsonl":  {3, 46, 5},
	} {
		t.Run(name[:20], func(t *testing.T) {
			f, err := ReadFile(filepath.Join(dir, name))
			if errors.Is(err, os.ErrNotExist) {
				t.Skip("the sessions are not here")
			}
			if err != nil {
				t.Fatal(err)
			}
			at := replay(t, f)
			if f.Version != want.version || len(f.Entries) != want.entries || f.Skipped != 0 || f.Leaf != f.Entries[len(f.Entries)-1].ID || f.Cwd == "" {
				t.Errorf("v%d, %d entries, %d skipped, leaf %q, cwd %q; want %+v", f.Version, len(f.Entries), f.Skipped, f.Leaf, f.Cwd, want)
			}
			st := at.Stats
			if st.Unproven != want.unproven || at.Trust.Len() != 0 || st.Full+st.Unchanged+st.Diff+st.Ignored != 0 {
				t.Errorf("%+v with %d trusted files, want %d unproven reads and no trust", st, at.Trust.Len(), want.unproven)
			}
		})
	}
}

// lines of a session that reads /p/a.txt ("one\ntwo\n") once; the rest of each is what differs.
var (
	body   = "one\ntwo\n"
	hashed = readcache.Digest(body)
	meta   = fmt.Sprintf(`{"v":1,"pathKey":"/p/a.txt","scopeKey":"full","servedHash":%q,"mode":"full","totalLines":3,"rangeStart":1,"rangeEnd":3,"bytes":8,"digest":%q}`, hashed, hashed[:32])
)

func header(version int) string {
	if version == 1 {
		return `{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}`
	}
	return fmt.Sprintf(`{"type":"session","version":%d,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}`, version)
}

// ids are the members that v2 and later have; v1 lines go without.
func ids(id, parent string) string {
	if parent == "" {
		return fmt.Sprintf(`"id":%q,"parentId":null,`, id)
	}
	return fmt.Sprintf(`"id":%q,"parentId":%q,`, id, parent)
}

func user(ids string) string {
	return `{"type":"message",` + ids + `"message":{"role":"user","content":"hello"}}`
}

func call(ids string) string {
	return `{"type":"message",` + ids + `"message":{"role":"assistant","content":[{"type":"text","text":"hm"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a.txt"}}]}}`
}

func result(ids string) string {
	return fmt.Sprintf(`{"type":"message",%s"message":{"role":"toolResult","toolCallId":"c1","toolName":"read","isError":false,"content":[{"type":"text","text":%q}],"details":{"readcache":%s}}}`, ids, body, meta)
}

func TestHandmadeSessions(t *testing.T) {
	v3 := []string{header(3), user(ids("u", "")), call(ids("a", "u")), result(ids("r", "a"))}
	with := func(more ...string) []string { return append(v3[:len(v3):len(v3)], more...) }
	for name, tc := range map[string]struct {
		lines   []string
		leaf    string
		trusted bool
		skipped int
	}{
		"v1":            {[]string{header(1), user(""), call(""), result("")}, "v1-2", true, 0},
		"v1 compaction": {[]string{header(1), user(""), call(""), result(""), `{"type":"compaction","summary":"s","firstKeptEntryIndex":1}`}, "v1-3", false, 0},
		"v2 hookMessage": {[]string{
			header(2), `{"type":"message",` + ids("h", "") + `"message":{"role":"hookMessage","content":"x"}}`,
			call(ids("a", "h")), result(ids("r", "a")),
		}, "r", true, 0},
		"v3":                 {v3, "r", true, 0},
		"omitted":            {with(`{"type":"context_edit",` + ids("e", "r") + `"targetId":"r","replacement":null}`), "e", false, 0},
		"replaced":           {with(`{"type":"context_edit",` + ids("e", "r") + `"targetId":"r","replacement":{"content":"x"}}`), "e", false, 0},
		"call omitted":       {with(`{"type":"context_edit",` + ids("e", "r") + `"targetId":"a","replacement":null}`), "e", false, 0},
		"other edited":       {with(`{"type":"context_edit",` + ids("e", "r") + `"targetId":"u","replacement":null}`), "e", true, 0},
		"refreshed":          {with(`{"type":"custom",` + ids("c", "r") + `"customType":"pi-readcache","data":{"v":1,"kind":"invalidate","pathKey":"/p/a.txt","scopeKey":"full","at":1}}`), "c", false, 0},
		"custom, others":     {with(`{"type":"custom",` + ids("c", "r") + `"customType":"x","data":{"v":1,"kind":"invalidate","pathKey":"/p/a.txt","scopeKey":"full","at":1}}`), "c", true, 0},
		"compaction":         {with(`{"type":"compaction",` + ids("c", "r") + `"summary":"s","firstKeptEntryId":"u"}`), "c", false, 0},
		"other branch":       {with(user(ids("u2", "u"))), "u2", false, 0},
		"damaged":            {with(`{"type":"mess`, "", "garbage", `[1]`, `5`, `null`, `{"type":"label"}`, `{"id":"x"}`, `{"type":5,"id":"x"}`, `{"type":"label","id":5}`), "r", true, 9},
		"CRLF":               {strings.Split(strings.Join(v3, "\r\n")+"\r", "\n"), "r", true, 0},
		"blank lines":        {[]string{"", header(3), "", v3[1], "  ", v3[2], v3[3], ""}, "r", true, 0},
		"second header":      {[]string{v3[0], v3[1], v3[0], v3[2], v3[3]}, "r", true, 1},
		"no entries":         {v3[:1], "", false, 0},
		"missing parent":     {[]string{v3[0], v3[2], v3[3], user(ids("u2", "nowhere"))}, "u2", false, 0},
		"root in the middle": {[]string{v3[0], call(ids("a", "nowhere")), result(ids("r", "a"))}, "r", true, 0},
		"cycle":              {[]string{v3[0], user(ids("x", "y")), user(ids("y", "x")), user(ids("z", "z"))}, "z", false, 0},
		"duplicate ids":      {with(user(ids("r", "u")), user(ids("u2", "r"))), "u2", true, 1},
		"odd fields":         {with(`{"type":"message",` + ids("o", "r") + `"message":{"role":"toolResult","toolCallId":5,"toolName":["read"],"content":7,"details":"x","isError":"no"}}`), "o", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Decode(strings.NewReader(strings.Join(tc.lines, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			at := replay(t, f)
			if f.Leaf != tc.leaf || f.Skipped != tc.skipped || f.ID != "s" || f.Cwd != "/p" {
				t.Errorf("leaf %q, %d skipped; want %q, %d", f.Leaf, f.Skipped, tc.leaf, tc.skipped)
			}
			if base, ok := at.Trust.Entire("/p/a.txt", hashed); ok != tc.trusted || (ok && base.Hash != hashed) {
				t.Errorf("trusted: %t, want %t", ok, tc.trusted)
			}
		})
	}
}

func TestNotASession(t *testing.T) {
	for _, text := range []string{"", "\n\n", "hello", "{}", `{"type":"message","id":"x"}`, "[]", `"session"`, "\x00\x00"} {
		if f, err := Decode(strings.NewReader(text)); !errors.Is(err, ErrNotSession) {
			t.Errorf("%q: got %+v, %v; want ErrNotSession", text, f, err)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	if _, err := ReadFile(t.TempDir()); err == nil {
		t.Error("a folder was read as a session")
	}
}

// A line beyond the limit is skipped and counted, wherever its pieces end.
func TestLongLine(t *testing.T) {
	for _, n := range []int{70_000, 1 << 16, 1<<16 + 1, 200_000} {
		long := `{"type":"label","id":"l","parentId":"r","label":"` + strings.Repeat("x", n) + `"}`
		text := strings.Join([]string{header(3), user(ids("u", "")), long, user(ids("u2", "u"))}, "\n")
		f, err := decode(strings.NewReader(text), 60_000)
		if err != nil || f.Skipped != 1 || f.Leaf != "u2" || len(f.Entries) != 2 {
			t.Errorf("%d: %+v, %v", n, f, err)
		}
	}
}

// A line of 100 MB is read in bounded time; so is one over maxLine, which takes no memory.
func TestHugeLines(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("measures time and memory")
	}
	huge := func(n int64) io.Reader {
		return io.MultiReader(
			strings.NewReader(header(3)+"\n"+`{"type":"message","id":"h","parentId":null,"message":{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"`),
			io.LimitReader(endless{}, n),
			strings.NewReader(`"}]}}`+"\n"+user(ids("u", "h"))+"\n"),
		)
	}
	for name, tc := range map[string]struct {
		bytes   int64
		skipped int
	}{"100 MB": {100 << 20, 0}, "over the limit": {2 * maxLine, 1}} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			f, err := Decode(huge(tc.bytes))
			if err != nil || f.Skipped != tc.skipped || f.Leaf != "u" {
				t.Fatalf("%+v, %v", f, err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			} else {
				t.Logf("took %v", took)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("x"), len(p))), nil }

// What pi calls the folder of a project's sessions.
func TestSessionDir(t *testing.T) {
	t.Setenv("PI_CODING_AGENT_DIR", "")
	if got, want := SessionDir("/home/ann/my shop", "/h"), filepath.Join("/h", ".pi", "agent", "sessions", "--home-ann-my shop--"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	t.Setenv("PI_CODING_AGENT_DIR", "/else")
	if got, want := SessionDir(`C:\x`, "/h"), filepath.Join("/else", "sessions", "--C--x--"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// gc keeps what recent sessions refer to; old and foreign files say nothing (spec 9.5).
func TestUsedVersions(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PI_CODING_AGENT_DIR", "")
	dir := SessionDir("/p", home)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.Join([]string{header(3), user(ids("u", "")), call(ids("a", "u")), result(ids("r", "a"))}, "\n")
	for name, content := range map[string]string{"1_s.jsonl": text, "2_bad.jsonl": "not a session", "3.txt": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(map[string]bool{hashed: true}, UsedVersions("/p", home, time.Hour)); d != "" {
		t.Error(d)
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "1_s.jsonl"), old, old); err != nil {
		t.Fatal(err)
	}
	if got := UsedVersions("/p", home, time.Hour); len(got) != 0 {
		t.Errorf("an old session: %v", got)
	}
}
