package scenario

import (
	"fmt"
	"os"
	"testing"
)

// foreign writes a session as the existing extension leaves it: metadata of spec 4 and no other
// fields.
type foreign struct {
	s    *stage
	list []entry
}

func (f *foreign) message(m entry) {
	n := len(f.list)
	m["timestamp"] = 1767225600000 + n
	f.list = append(f.list, entry{
		"type": "message", "id": fmt.Sprintf("f%07d", n), "timestamp": "2026-01-01T00:00:00.000Z", "message": m,
	})
}

func text(s string) []any { return []any{entry{"type": "text", "text": s}} }

// read is a call and its result. The version is that of the whole file; mode, scope and lines are
// those of the metadata, base may be "".
func (f *foreign) read(name, version, mode, scope string, from, to int, base, delivered string) {
	call := fmt.Sprintf("call_f%d", len(f.list))
	args := entry{"path": f.s.path(name)}
	if scope != "full" {
		args["offset"], args["limit"] = from, to-from+1
	}
	usage := entry{
		"input": 10, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 20,
		"cost": entry{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
	}
	assistant := func(stop string, content ...any) {
		f.message(entry{
			"role": "assistant", "content": content, "api": "openai-completions", "provider": "fake", "model": "fake",
			"usage": usage, "stopReason": stop,
		})
	}
	meta := entry{
		"v": 1, "pathKey": f.s.abs(name), "scopeKey": scope, "servedHash": sha(version), "mode": mode,
		"totalLines": countLines(version), "rangeStart": from, "rangeEnd": to, "bytes": len(version),
	}
	if base != "" {
		meta["baseHash"] = sha(base)
	}
	f.message(entry{"role": "user", "content": text("please read " + f.s.path(name))})
	assistant("toolUse", entry{"type": "toolCall", "id": call, "name": "read", "arguments": args})
	f.message(entry{
		"role": "toolResult", "toolCallId": call, "toolName": "read", "content": text(delivered),
		"details": entry{"readcache": meta}, "isError": false,
	})
	assistant("stop", text("done")...)
}

// resume switches to the session.
func (f *foreign) resume() {
	f.s.t.Helper()
	header := entry{"type": "session", "version": 3, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": f.s.Options.Project}
	f.s.resume(header, f.list)
}

// keep puts a version into the store, where the existing extension has it.
func (s *stage) keep(version string) {
	s.t.Helper()
	s.ok(os.MkdirAll(s.store(), 0o700))
	s.ok(os.WriteFile(s.object(version), []byte(version), 0o600))
}

// Issue 2, build 7: "Sessions written by the existing extension replay." What is proven is answered
// from them: a whole file by its hash, a stub by its words, lines by the object.
func TestSpec21_17_SessionOfTheExistingExtension(t *testing.T) {
	play(t, func(s *stage) {
		full, lines := numbered(100), numbered(120)
		changed := s.edited(full, 50)
		s.write("full.txt", full)
		s.write("twice.txt", full)
		s.write("range.txt", lines)
		s.write("diffed.txt", changed)
		s.keep(full)
		s.keep(lines)
		f := foreign{s: s}
		f.read("full.txt", full, "full", "full", 1, 101, "", full)
		f.read("twice.txt", full, "full", "full", 1, 101, "", full)
		f.read("twice.txt", full, "unchanged", "full", 1, 101, full, "[readcache: unchanged, 101 lines]")
		f.read("range.txt", lines, "full", "r:10:29", 10, 29, "", part(lines, 10, 29))
		f.read("range.txt", lines, "unchanged_range", "r:10:29", 10, 29, lines, "[readcache: unchanged in lines 10-29 of 121]")
		f.read("diffed.txt", full, "full", "full", 1, 101, "", full)
		f.resume()

		s.wantStub(s.read("full.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("full.txt", 5, 10), "unchanged in lines 5-14 of 101")
		s.wantStub(s.read("twice.txt"), "unchanged, 101 lines")
		s.want(s.read("diffed.txt"), s.oneLine("diffed.txt", full, changed, 50)) // base and object are theirs
		s.want(s.read("range.txt", 40, 5), part(lines, 40, 44))
	})
}

// The existing extension's range stubs come after a range read that has no digest. Only what comes
// before the stub is a base that can be proven by the object.
func TestSpec21_17_RangeOfTheExistingExtension(t *testing.T) {
	play(t, func(s *stage) {
		lines := numbered(120)
		s.write("range.txt", lines)
		s.keep(lines)
		f := foreign{s: s}
		f.read("range.txt", lines, "full", "r:10:29", 10, 29, "", part(lines, 10, 29))
		f.read("range.txt", lines, "full", "r:100:121", 100, 121, "", slice(lines, 100, 121))
		f.resume()
		s.wantStub(s.read("range.txt", 10, 20), "unchanged in lines 10-29 of 121")
		s.wantStub(s.read("range.txt", 100, 22), "unchanged in lines 100-121 of 121")
		s.replace("range.txt", "line 60 ", "LINE 60 ")
		s.wantStub(s.read("range.txt", 15, 5), "unchanged in lines 15-19; changes exist outside this range")
	})
}

// edited is the text with line n in capitals.
func (s *stage) edited(text string, n int) string {
	s.t.Helper()
	s.write("edited.tmp", text)
	return s.replace("edited.tmp", fmt.Sprintf("line %d ", n), fmt.Sprintf("LINE %d ", n))
}

// A stored text that is not what its metadata says is no base: redacted, cut, or from a range whose
// object is missing or other.
func TestSpec21_17_ForeignTextThatDoesNotMatch(t *testing.T) {
	play(t, func(s *stage) {
		full := numbered(100)
		s.keep(full)
		cases := []struct {
			name string
			add  func(f *foreign, name string)
			read []int
			want string
		}{
			{"redacted.txt", func(f *foreign, name string) {
				f.read(name, full, "full", "full", 1, 101, "", s.edited(full, 50))
			}, nil, full},
			{"shortened.txt", func(f *foreign, name string) {
				f.read(name, full, "full", "full", 1, 101, "", slice(full, 1, 50))
			}, nil, full},
			{"stub.txt", func(f *foreign, name string) {
				f.read(name, full, "full", "full", 1, 101, "", full)
				f.read(name, full, "unchanged", "full", 1, 101, full, "something else altogether")
			}, nil, full},
			{"unbased.txt", func(f *foreign, name string) {
				f.read(name, full, "unchanged", "full", 1, 101, full, "[readcache: unchanged, 101 lines]")
			}, nil, full},
			{"range.txt", func(f *foreign, name string) {
				f.read(name, full, "full", "r:10:29", 10, 29, "", part(s.edited(full, 20), 10, 29))
			}, []int{10, 20}, part(full, 10, 29)},
		}
		f := &foreign{s: s}
		for _, c := range cases {
			s.write(c.name, full)
			c.add(f, c.name)
		}
		other := numbered(90) // delivered right, but nothing is left to prove it by
		s.write("gone.txt", other)
		f.read("gone.txt", other, "full", "r:10:29", 10, 29, "", part(other, 10, 29))
		s.write("good.txt", full)
		f.read("good.txt", full, "full", "full", 1, 101, "", full)
		f.resume()
		for _, c := range cases {
			if got := s.read(c.name, c.read...); got != c.want {
				s.t.Errorf("%s: the model received %.300s", c.name, got)
			}
		}
		s.want(s.read("gone.txt", 10, 20), part(other, 10, 29))
		s.wantStub(s.read("good.txt"), "unchanged, 101 lines")
	})
}
