package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/realpi/pitest"
	"deja/conformance/scripted"
)

// Ways a read cache lies, 41-49: the disk is not as claimed.

// Class 41, "external edit not noticed (mtime only, whole seconds, TTL); mtime going backwards".
func TestLie41_TimesProveNothing(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.want(s.read("a.txt"), text)
		for i, at := range []time.Time{time.Now().Add(-10 * 365 * 24 * time.Hour), time.Now().Add(time.Hour), time.Unix(0, 0)} {
			s.stored(text)
			old := text
			text = s.replace("a.txt", []string{"line 20 ", "line 40 ", "line 60 "}[i], "changed ")
			s.ok(os.Chtimes(s.abs("a.txt"), at, at))
			s.wantDiff(s.read("a.txt"), old, text)
			s.ok(os.Chtimes(s.abs("a.txt"), time.Now(), time.Now()))
			s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		}
	})
}

// Class 42, "same mtime, size and inode, other bytes".
func TestLie42_SameTimeAndSize(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		before, err := os.Stat(s.abs("a.txt"))
		s.ok(err)
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt", 45, 10), "unchanged in lines 45-54 of 101")
		s.stored(text)
		changed := s.replace("a.txt", "line 50 ", "LINE 50 ")
		s.ok(os.Chtimes(s.abs("a.txt"), before.ModTime(), before.ModTime()))
		after, err := os.Stat(s.abs("a.txt"))
		s.ok(err)
		if !os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) {
			s.t.Fatal("the change can be seen from outside: it shows nothing")
		}
		s.want(s.read("a.txt", 45, 10), part(changed, 45, 54))
		s.wantDiff(s.read("a.txt"), text, changed)
	})
}

// Class 46, "other working directory or worktree, same relative path".
func TestLie46_OtherFolder(t *testing.T) {
	t.Parallel()
	pitest.Each(t, func(t *testing.T, line realpi.Line) {
		first := &stage{Pi: start(t, realpi.Options{Line: line}), t: t, dir: "."}
		text := numbered(100)
		first.write("a.txt", text)
		first.want(first.read("a.txt"), text)
		first.wantStub(first.read("a.txt"), "unchanged, 101 lines")
		file, err := first.SessionFile(bg)
		first.ok(err)

		// The same session, carried on in another working tree that has the same files. pi works in the
		// folder that the session names.
		other, err := filepath.EvalSymlinks(t.TempDir())
		first.ok(err)
		raw, err := os.ReadFile(file)
		first.ok(err)
		header, rest, _ := strings.Cut(string(raw), "\n")
		moved := strings.Replace(header, first.Options.Project, other, 1)
		if moved == header {
			t.Fatalf("the session names no folder: %s", header)
		}
		file = filepath.Join(t.TempDir(), "moved.jsonl")
		first.ok(os.WriteFile(file, []byte(moved+"\n"+rest), 0o600))
		s := &stage{Pi: start(t, realpi.Options{Line: line, Home: first.Options.Home, Project: other, SessionFile: file}), t: t, dir: "."}
		s.write("a.txt", text)
		got := s.run(scripted.Bash("pwd"))
		if strings.TrimSpace(got[0]) != other {
			t.Fatalf("this pi works in %s, not in %s", got[0], other)
		}
		s.want(s.read("a.txt"), text)
		s.wantStub(s.read("a.txt"), "unchanged, 101 lines")
		s.wantStub(pitest.Read(t, s.Pi, filepath.Join(first.Options.Project, "a.txt")), "unchanged, 101 lines")
	})
}

// Class 47, "same content elsewhere claimed as this path".
func TestLie47_SameContentElsewhere(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		s.write("b.txt", text)
		s.write("sub/a.txt", text)
		s.want(s.read("a.txt"), text)
		s.want(s.read("b.txt", 10, 20), part(text, 10, 29))
		s.want(s.read("b.txt"), text)
		s.want(s.read("sub/a.txt"), text)
		s.ok(os.Rename(s.abs("a.txt"), s.abs("c.txt")))
		s.want(s.read("c.txt"), text)
		s.wantPart(s.read("a.txt"), "ENOENT")
		s.wantStub(s.read("c.txt"), "unchanged, 101 lines")
		s.wantStub(s.read("./sub/../b.txt"), "unchanged, 101 lines")
	})
}

// Class 48, "encoding collapse: invalid UTF-8 replaced before hashing".
func TestLie48_InvalidUTF8(t *testing.T) {
	play(t, func(s *stage) {
		for _, bytes := range []string{"caf\xe9", "caf\xe8", "caf\xe8", "caf\xff\xfe"} {
			text := strings.Replace(numbered(100), "line 50 ", bytes+" ", 1)
			s.write("latin.txt", text)
			want := strings.ReplaceAll(strings.ToValidUTF8(text, "\x00"), "\x00", "\ufffd")
			if bytes == "caf\xff\xfe" {
				want = strings.Replace(want, "\ufffd", "\ufffd\ufffd", 1) // one for each byte
			}
			s.want(s.read("latin.txt"), want)
			s.want(s.read("latin.txt", 48, 5), part(want, 48, 52))
		}
		// What pi makes of the bytes, as a file of its own, is a text like any other.
		text := strings.Replace(numbered(100), "line 50 ", "caf\ufffd ", 1)
		s.write("latin.txt", text)
		s.want(s.read("latin.txt"), text)
		s.wantStub(s.read("latin.txt"), "unchanged, 101 lines")
	})
}

// Class 48, "BOM; CR stripped": bytes like any other.
func TestLie48_BOMAndCR(t *testing.T) {
	play(t, func(s *stage) {
		for i, v := range [][2]string{
			{"\ufeff" + numbered(100), numbered(100)},
			{numbered(100), strings.Replace(numbered(100), "cache\nline 50 ", "cache\r\nline 50 ", 1)},
			{numbered(100), strings.TrimSuffix(numbered(100), "\n")},
			{strings.Replace(numbered(100), "line 50 ", "é ", 1), strings.Replace(numbered(100), "line 50 ", "e\u0301 ", 1)},
		} {
			name := []string{"bom", "cr", "end", "nfd"}[i]
			s.write(name, v[0])
			s.want(s.read(name), v[0])
			s.wantStub(s.read(name), "unchanged, 101 lines")
			s.stored(v[0])
			s.write(name, v[1])
			s.wantDiff(s.read(name), v[0], v[1])
		}
		crlf := strings.ReplaceAll(numbered(100), "\n", "\r\n")
		s.write("cr", crlf)
		s.want(s.read("cr"), crlf)
		s.wantStub(s.read("cr"), "unchanged, 101 lines")
	})
}

// Class 49, "unchanged in lines a-b after an insertion above".
func TestLie49_InsertionAbove(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(300)
		s.write("a.txt", text)
		s.want(s.read("a.txt", 50, 10), part(text, 50, 59))
		s.stored(text)
		shifted := "a new first line\n" + text
		s.write("a.txt", shifted)
		s.want(s.read("a.txt", 50, 10), part(shifted, 50, 59))
		s.want(s.read("a.txt"), shifted)
		s.stored(shifted)
		twice := s.replace("a.txt", "line 20 ", "one more\nline 20 ")
		s.want(s.read("a.txt", 200, 10), part(twice, 200, 209))
		s.wantStub(s.read("a.txt", 2, 10), "unchanged in lines 2-11; changes exist outside this range")
	})
}
