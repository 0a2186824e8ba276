package oracle

import (
	"bytes"
	"testing"
)

// judgeAll judges with no contents, with the same bytes at each read, and with none. It must not
// crash, and must find the same each time.
func judgeAll(t *testing.T, r Request, files ...Contents) {
	files = append(files, nil, func(id, _ string) (File, bool) { return File{Path: "/f", Bytes: []byte(file(20))}, id != "no" })
	for _, f := range files {
		first := r.Judge(f)
		again := r.Judge(f)
		if brief(first) != brief(again) {
			t.Fatalf("two judgements:\n%s\n%s", brief(first), brief(again))
		}
		for _, v := range first {
			if (v.State == Proven) != (v.Reason == "") {
				t.Fatalf("%v", v)
			}
			if f == nil && v.State == Proven {
				t.Fatalf("proven without contents: %v", v)
			}
		}
	}
}

func seeds() []*chat {
	v1, v2 := file(20), file(20, 12, "new")
	return []*chat{
		newChat().plain(v1).read(v1, same20).read(v2, else510, "f:5-10").read(v2, diff12),
		newChat().read(v1, cut(v1, 1, 10), "f", 1, 10).read(v1, same510, "f", 5, 6).shell("x"),
		newChat().read(v1, "[Line 1 is 60.0KB, exceeds 50.0KB limit. Use bash: sed -n '1p' f | head -c 51200]").read(v1, same20),
	}
}

func FuzzOpenAI(f *testing.F) {
	for _, c := range seeds() {
		f.Add(c.openAI())
	}
	f.Add([]byte(`{"messages":[null,7,{"role":"tool"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"read","arguments":{"path":"f","offset":-3,"limit":1e3}}}]},{"role":"tool","tool_call_id":"a","content":[{"type":"image_url"}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := OpenAI(body); err == nil {
			judgeAll(t, r)
		}
	})
}

func FuzzAnthropic(f *testing.F) {
	for _, c := range seeds() {
		f.Add(c.anthropic())
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":5,"content":{}},null]},[]]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := Anthropic(body); err == nil {
			judgeAll(t, r)
		}
	})
}

func FuzzSession(f *testing.F) {
	for _, c := range seeds() {
		f.Add(c.jsonl(), "")
		f.Add(c.jsonl(dict{"type": "compaction", "id": "k", "firstKeptEntryId": "e2"}, dict{"type": "context_edit", "id": "x", "targetId": "e1", "replacement": nil}), "k")
	}
	f.Fuzz(func(t *testing.T, raw []byte, leaf string) {
		r, err := Session(bytes.NewReader(raw), leaf)
		if err != nil {
			return
		}
		files, err := Rebuilt(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		judgeAll(t, r, files)
	})
}

// A body of the size that a long session has.
func BenchmarkJudge(b *testing.B) {
	c := newChat()
	v1 := file(400)
	for range 20 {
		c.plain(v1)
		for range 9 {
			c.read(v1, "[readcache: unchanged, 400 lines]")
		}
	}
	body := c.openAI()
	b.Run("judge", func(b *testing.B) {
		for b.Loop() {
			if got := c.Judge(c.contents); len(got) != 180 {
				b.Fatal(len(got))
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := OpenAI(body); err != nil {
				b.Fatal(err)
			}
		}
	})
}
