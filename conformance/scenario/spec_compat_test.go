package scenario

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
	"strings"
	"testing"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"

	"github.com/google/go-cmp/cmp"
)

// picture is a small PNG.
func picture(t *testing.T) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		img.Set(i%8, i/8, color.NRGBA{uint8(4 * i), uint8(255 - 4*i), 99, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Spec 21.4, 23: "image/binary reads delegated to baseline". Both models get the same bytes, also
// for the second read, and nothing of it is stored.
func TestSpec21_23_ImagesAndBinaries(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		w := pair(t, line)
		for _, s := range []*stage{w.ours, w.plain} {
			_, err := s.Send(t.Context(), "set_model", map[string]any{"provider": "eyes", "modelId": "eyes"})
			s.ok(err)
		}
		files := map[string][]byte{
			"picture.png": picture(t), "picture.txt": picture(t), // pi looks at the content
			"latin1.txt": []byte("caf\xe9 au lait\n" + numbered(50)),
			"zeros.bin":  append(bytes.Repeat([]byte{0, 0xff, 0xfe}, 500), '\n'),
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			w.ours.bytesFile(name, files[name])
			for range 2 {
				ours, plain := w.both(scripted.Do(scripted.Read(w.ours.path(name))))
				wantSame(t, ours, plain)
				req, _ := ours.Last()
				if name == "picture.png" && !bytes.Contains(req.Raw, []byte("data:image/png;base64,")) {
					t.Errorf("the model received no picture")
				}
			}
		}
		w.ours.write("text.txt", numbered(50)) // and the cache was on
		w.ours.want(w.ours.read("text.txt"), numbered(50))
		w.ours.wantStub(w.ours.read("text.txt"), "unchanged, 51 lines")
		wantStore(t, w.ours.store(), map[string]bool{numbered(50): true})
	})
}

// Spec 21.5, 24: "UI truncation indicators still work".
func TestSpec21_24_TruncationIndicators(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		w := pair(t, line)
		files := cutFiles()
		for _, name := range slices.Sorted(maps.Keys(files)) {
			w.ours.write(name, files[name])
			ours, plain := w.both(scripted.Do(scripted.Read(w.ours.path(name))))
			wantSame(t, ours, plain)
			call := ours.Calls[0].ID
			a, b := details(event(t, ours, "tool_execution_end", call)), details(event(t, plain, "tool_execution_end", call))
			if diff := cmp.Diff(b["truncation"], a["truncation"]); diff != "" {
				t.Errorf("%s: details.truncation (-plain +ours):\n%s", name, diff)
			}
			if cut := a["truncation"] != nil; cut != (name != "whole.txt") {
				t.Errorf("%s: cut is %v", name, cut)
			}
			if diff := cmp.Diff(w.plain.rendered(call), w.ours.rendered(call)); diff != "" {
				t.Errorf("%s: what the user sees (-plain +ours):\n%s", name, diff)
			}
		}
		shown := strings.Join(w.ours.rendered(w.ours.lastCall("lines.txt")), "\n")
		if !strings.Contains(shown, "[Truncated: showing 2000 of ") {
			t.Errorf("no indicator in what the user sees:\n%.300s", shown[max(0, len(shown)-300):])
		}
		w.ours.want(w.ours.read("lines.txt"), // and a claim about the part that was shown
			"[readcache: unchanged in lines 1-2000 of 5001]\n\n[3001 more lines in file. Use offset=2001 to continue.]")
	})
}

// lastCall is the id of the last call that reads a file, found by what it delivered.
func (s *stage) lastCall(name string) string {
	s.t.Helper()
	session, err := s.Session(s.t.Context())
	s.ok(err)
	e, found := session.Find(func(e realpi.Entry) bool {
		return e.Role == "assistant" && bytes.Contains(e.Raw, []byte(s.path(name)))
	})
	if !found {
		s.t.Fatalf("no call for %s", name)
	}
	for _, r := range session.Entries {
		if r.ParentID == e.ID {
			return r.ToolCallID
		}
	}
	s.t.Fatalf("no result for %s", name)
	return ""
}

// Spec 21.5, 25: "output shape accepted by built-in renderer".
func TestSpec21_25_OutputShape(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		w := pair(t, line)
		text := numbered(40)
		w.ours.write("a.txt", text)
		read := func(c scripted.Call, want ...string) {
			t.Helper()
			ours, plain := w.both(scripted.Do(c))
			if diff := cmp.Diff(kinds(plain), kinds(ours)); diff != "" {
				t.Errorf("the events of the run (-plain +ours):\n%s", diff)
			}
			call := ours.Calls[0].ID
			a, b := event(t, ours, "tool_execution_end", call), event(t, plain, "tool_execution_end", call)
			if len(want) == 0 { // a plain read: the same but for the metadata
				delete(details(a), "readcache")
				if within(b, "result")["details"] == nil && len(details(a)) == 0 {
					delete(within(a, "result"), "details")
				}
				if diff := cmp.Diff(b, a); diff != "" {
					t.Errorf("tool_execution_end (-plain +ours):\n%s", diff)
				}
				if diff := cmp.Diff(w.plain.rendered(call), w.ours.rendered(call)); diff != "" {
					t.Errorf("what the user sees (-plain +ours):\n%s", diff)
				}
				return
			}
			content := []any{entry{"type": "text", "text": strings.Join(want, "\n")}}
			if diff := cmp.Diff(content, within(a, "result")["content"]); diff != "" || a["isError"] != false {
				t.Errorf("a claim has isError %v and content (-want +got):\n%s", a["isError"], diff)
			}
			if diff := cmp.Diff(append([]string{""}, want...), w.ours.rendered(call)); diff != "" {
				t.Errorf("what the user sees of a claim (-want +got):\n%s", diff)
			}
		}
		path := w.ours.path("a.txt")
		read(scripted.Read(path))
		read(scripted.ReadRange("shared/none.txt", 1, 2))
		read(scripted.ReadRange(path, 400, 2))
		read(scripted.Read(path), "[readcache: unchanged, 41 lines]")
		read(scripted.ReadRange(path, 5, 9), "[readcache: unchanged in lines 5-13 of 41]")
		changed := w.ours.change("a.txt", "line 20 ", "LINE 20 ")
		diff := w.ours.oneLine("a.txt", text, changed, 20)
		if got := w.ours.read("a.txt"); got != diff {
			t.Errorf("the model received %q", got)
		}
		lines := w.ours.rendered(w.ours.lastCall("a.txt"))
		if diff := cmp.Diff(strings.Split("\n"+strings.TrimSuffix(diff, "\n"), "\n"), lines); diff != "" {
			t.Errorf("what the user sees of a diff (-want +got):\n%s", diff)
		}
	})
}

// Spec 21.5, 26: "no requirement to change system prompt/tool instructions".
// spec 1.7
func TestSpec21_26_PromptAndSchema(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		w := pair(t, line)
		w.ours.write("a.txt", numbered(50))
		ours, plain := w.both(scripted.Do(scripted.Read(w.ours.path("a.txt"))))
		wantSame(t, ours, plain) // the system prompt is in there
		if role := ours.Requests[0].Messages[0].Role; role != "system" && role != "developer" {
			t.Errorf("the first message is of %s", role)
		}
		_, a := body(t, ours.Requests[0])
		_, b := body(t, plain.Requests[0])
		if a["readcache_refresh"] == "" {
			t.Error("no tool readcache_refresh: is this our pi?")
		}
		delete(a, "readcache_refresh")
		if diff := cmp.Diff(b, a); diff != "" || b["read"] == "" {
			t.Errorf("the tools (-plain +ours):\n%s", diff)
		}
		w.ours.wantStub(w.ours.read("a.txt"), fmt.Sprintf("unchanged, %d lines", 51))
	})
}
