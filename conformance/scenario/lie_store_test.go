package scenario

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"deja/conformance/scripted"
)

// Ways a read cache lies, 51-56: other names, a damaged store, and claims that help nobody.

// Class 51, "symlink retargeted; case variants". spec 2.3
func TestLie51_SymlinkRetargeted(t *testing.T) {
	play(t, func(s *stage) {
		text, other := numbered(100), strings.ToUpper(numbered(90))
		s.write("v1.txt", text)
		s.write("v2.txt", other)
		s.write("v3.txt", strings.Replace(text, "line 50 ", "LINE 50 ", 1))
		link := func(to string) {
			_ = os.Remove(s.abs("current"))
			s.ok(os.Symlink(to, s.abs("current")))
		}
		link("v1.txt")
		s.want(s.read("current"), text)
		s.wantStub(s.read("current"), "unchanged, 101 lines")
		link("v2.txt")
		s.want(s.read("current", 10, 5), part(other, 10, 14))
		s.want(s.read("current"), other)
		link("v1.txt")
		s.want(s.read("current"), text)
		s.stored(text)
		link("v3.txt")
		s.wantDiff(s.read("current"), text, strings.Replace(text, "line 50 ", "LINE 50 ", 1))
	})
}

// Class 51 again: where letters of either case are different names, they are different files.
func TestLie51_CaseVariants(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("readme", text)
		if exists(s.abs("README")) {
			s.t.Skip("this file system does not tell the case of letters")
		}
		s.write("README", text)
		s.want(s.read("readme"), text)
		s.want(s.read("README"), text)
		s.wantStub(s.read("readme"), "unchanged, 101 lines")
		changed := s.replace("README", "line 50 ", "LINE 50 ")
		s.wantStub(s.read("readme"), "unchanged, 101 lines")
		if got := s.read("README"); got != changed {
			s.wantDiff(got, text, changed)
		}
	})
}

// Class 52, "base object missing, corrupt, evicted, or from an older format".
func TestLie52_DamagedBase(t *testing.T) {
	damage := map[string]func(file string, content []byte) error{
		"missing":   func(file string, _ []byte) error { return os.Remove(file) },
		"emptied":   func(file string, _ []byte) error { return os.WriteFile(file, nil, 0o600) },
		"truncated": func(file string, b []byte) error { return os.WriteFile(file, b[:len(b)/2], 0o600) },
		"one byte": func(file string, b []byte) error {
			return os.WriteFile(file, bytes.Replace(b, []byte("line 50"), []byte("line 5O"), 1), 0o600)
		},
		"other format": func(file string, b []byte) error {
			return os.WriteFile(file, append([]byte("deja-object v0\n"), b...), 0o600)
		},
		"folder": func(file string, _ []byte) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Mkdir(file, 0o700)
		},
		"intact": func(string, []byte) error { return nil },
	}
	play(t, func(s *stage) {
		for name, hurt := range damage {
			text := strings.ReplaceAll(numbered(100), "cache", name)
			s.write(name, text)
			s.want(s.read(name), text)
			s.stored(text)
			s.ok(hurt(s.object(text), []byte(text)))
			changed := s.replace(name, "line 80 ", "LINE 80 ")
			got := s.read(name)
			if name == "intact" {
				s.wantDiff(got, text, changed)
				continue
			}
			s.want(got, changed)
			s.wantStub(s.read(name), "unchanged, 101 lines")
			s.ok(os.RemoveAll(s.object(text)))
		}
	})
}

// Class 52 with lines: they are compared with the base, which is not what it says it is. The text in
// the context is still there, and needs no object.
func TestLie52_CorruptBaseIsNotUsed(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		s.stored(text)
		s.ok(os.WriteFile(s.object(text), []byte(strings.Replace(text, "line 50 ", "forged  ", 1)), 0o600))
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("a.txt", 45, 10), "unchanged in lines 45-54 of 101")
		s.ok(os.WriteFile(s.object(text), []byte(strings.Replace(text, "line 50 ", "forged  ", 1)), 0o600))
		changed := s.replace("a.txt", "line 80 ", "LINE 80 ")
		s.want(s.read("a.txt", 10, 5), part(changed, 10, 14))
		s.want(s.read("a.txt"), changed)
		s.stored(changed)
		again := s.replace("a.txt", "line 20 ", "LINE 20 ")
		s.wantDiff(s.read("a.txt"), changed, again)
	})
}

// Classes 53 and 56, "asks again and again": two claims, the third in a row delivers.
func TestLie56_ThirdInARowDelivers(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		stub, read := "[readcache: unchanged, 101 lines]", scripted.Read(s.path("a.txt"))
		for i, got := range s.run(read, read, read, read, read, read, read) {
			s.want(got, []string{text, stub, stub}[i%3])
		}
		lines := scripted.ReadRange(s.path("a.txt"), 10, 20)
		stub = "[readcache: unchanged in lines 10-29 of 101]"
		for i, got := range s.run(lines, lines, lines, lines) {
			s.want(got, []string{stub, stub, part(text, 10, 29)}[i%3])
		}
	})
}

// A user message, or another tool's result, ends the row.
func TestLie56_RowEnds(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		for range 4 { // each is a prompt of its own
			s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		}
		stub, read := "[readcache: unchanged, 101 lines]", scripted.Read(s.path("a.txt"))
		got := s.run(read, read, scripted.Bash("echo hello"), read, read, read)
		for i, want := range []string{stub, stub, "hello\n", stub, stub, text} {
			s.want(strings.TrimSuffix(got[i], "\n"), strings.TrimSuffix(want, "\n"))
		}
	})
}

// Class 53, "repetition was the message (polled files)": what changed is told, what did not delivers
// in its turn.
func TestLie53_PolledFile(t *testing.T) {
	play(t, func(s *stage) {
		log := numbered(100)
		s.write("log.txt", log)
		poll := scripted.Bash("echo 'one more line of the log' >> " + s.path("log.txt"))
		read := scripted.Read(s.path("log.txt"))
		s.want(s.read("log.txt"), log)
		s.stored(log)
		got := s.run(poll, read, read, read, read)
		grown := log + "one more line of the log\n"
		s.wantDiff(got[1], log, grown)
		s.wantStub(got[2], "unchanged, 102 lines")
		// The diff was a claim as well, for the same lines: this is the third.
		s.want(got[3], grown)
		s.wantStub(got[4], "unchanged, 102 lines")
	})
}
