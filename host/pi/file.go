package pi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"deja/session"
	"deja/textfile"
)

// File is a session file of pi, of format v1, v2 or v3.
type File struct {
	Version int
	ID      string
	Cwd     string
	Entries []Entry
	// Leaf is where pi resumes the session: its last entry, "" for a session without one.
	Leaf string
	// Skipped counts lines that are no entries; pi skips them too.
	Skipped int
}

// maxLine bounds a line of a session file, in bytes. A longer one is skipped and counted.
const maxLine = 128 << 20

// ErrNotSession says that a file is not a session file of pi.
var ErrNotSession = errors.New("not a pi session file: the first line must be an object with \"type\":\"session\"")

// ReadFile loads a session file. Lines that are damaged are skipped, as pi does.
func ReadFile(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// Decode reads a session from its lines.
func Decode(r io.Reader) (*File, error) { return decode(r, maxLine) }

func decode(r io.Reader, maxLine int) (*File, error) {
	f := &File{}
	in := bufio.NewReaderSize(r, 1<<16)
	header := false
	for {
		line, long, err := readLine(in, maxLine)
		if err != nil && err != io.EOF {
			return nil, err
		}
		switch line = bytes.TrimSpace(line); {
		case long:
			f.Skipped++
		case len(line) == 0:
		case !header:
			if err := f.header(line); err != nil {
				return nil, err
			}
			header = true
		default:
			f.add(line)
		}
		if err == io.EOF {
			break
		}
	}
	if !header {
		return nil, ErrNotSession
	}
	return f, nil
}

func (f *File) header(line []byte) error {
	var h struct {
		Type    string
		Version *int
		ID      string
		Cwd     string
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Type != "session" {
		return ErrNotSession
	}
	f.Version, f.ID, f.Cwd = 1, h.ID, h.Cwd // v1 has no version
	if h.Version != nil {
		f.Version = *h.Version
	}
	return nil
}

func (f *File) add(line []byte) {
	w := recordOf(line).reduce()
	if f.Version < 2 {
		// v1 is a list; pi makes a chain of it and gives the entries ids (spec 5.5).
		w.ID, w.Parent = "v1-"+strconv.Itoa(len(f.Entries)), f.Leaf
	}
	if w.ID == "" || w.Type == "" || w.Type == "session" {
		f.Skipped++
		return
	}
	f.Entries = append(f.Entries, w)
	f.Leaf = w.ID
}

// Tree replays all of the file. Entries that cannot be added (a second one with the same id) are
// counted in f.Skipped.
func (f *File) Tree(cwd, home string) *session.Tree {
	t := session.New()
	paths := pathKeys(cwd, home, textfile.Pi087)
	for _, w := range f.Entries {
		if err := t.Add(w.replayed(paths)); err != nil {
			f.Skipped++
		}
	}
	return t
}

// readLine reads a line without its end. If it is longer than limit it is dropped and long is
// true. The error is io.EOF with the last line.
func readLine(in *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		return bytes.TrimSuffix(line, []byte("\n")), long, err
	}
}
