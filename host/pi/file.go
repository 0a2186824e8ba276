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

	"deja/readcache"
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

// maxLine bounds a line of a session file. A longer one is skipped and counted.
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
func Decode(r io.Reader) (*File, error) {
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

// fileEntry is an entry as pi writes it, as far as it is looked at.
type fileEntry struct {
	Type        string
	ID          string
	ParentID    *string
	CustomType  string
	Data        json.RawMessage
	TargetID    string
	Replacement json.RawMessage
	Message     *struct {
		Role       string
		Content    json.RawMessage
		ToolCallID string
		ToolName   string
		IsError    bool
		Details    json.RawMessage
	}
}

func (f *File) add(line []byte) {
	var e fileEntry
	if err := json.Unmarshal(line, &e); err != nil || e.Type == "" || e.Type == "session" {
		f.Skipped++
		return
	}
	if f.Version < 2 {
		// v1 is a list; pi makes a chain of it and gives the entries ids (spec 5.5).
		e.ID = "v1-" + strconv.Itoa(len(f.Entries))
		e.ParentID = &f.Leaf
	}
	if e.ID == "" {
		f.Skipped++
		return
	}
	f.Entries = append(f.Entries, e.reduce())
	f.Leaf = e.ID
}

// reduce does for a line of a file what the extension does for an entry in memory.
func (e fileEntry) reduce() Entry {
	w := Entry{ID: e.ID, Type: e.Type}
	if e.ParentID != nil {
		w.Parent = *e.ParentID
	}
	switch e.Type {
	case "custom":
		w.CustomType = e.CustomType
		if e.CustomType == readcache.InvalidateType {
			w.Data = e.Data
		}
	case "context_edit":
		w.Target, w.Omit = e.TargetID, isNull(e.Replacement)
	case "message":
		e.reduceMessage(&w)
	}
	return w
}

func (e fileEntry) reduceMessage(w *Entry) {
	m := e.Message
	if m == nil {
		return
	}
	w.Role = m.Role
	switch m.Role {
	case "assistant":
		w.Calls = readCalls(m.Content)
	case "toolResult":
		w.CallID, w.Tool, w.Failed = m.ToolCallID, m.ToolName, m.IsError
		if m.ToolName != readTool {
			return
		}
		var d struct {
			Readcache  json.RawMessage
			Truncation *struct {
				Truncated   bool
				OutputLines int
			}
		}
		_ = json.Unmarshal(m.Details, &d) // details may be anything, or absent
		w.Meta, w.Digest = d.Readcache, onlyText(m.Content)
		if d.Truncation != nil && d.Truncation.Truncated {
			w.Cut = &d.Truncation.OutputLines
		}
	}
}

type block struct {
	Type      string
	Text      string
	ID        string
	Name      string
	Arguments json.RawMessage
}

func readCalls(content json.RawMessage) []Call {
	var blocks []block
	_ = json.Unmarshal(content, &blocks) // a string has no calls
	var calls []Call
	for _, b := range blocks {
		if b.Type != "toolCall" || b.Name != readTool {
			continue
		}
		var args struct{ Path string }
		_ = json.Unmarshal(b.Arguments, &args) // arguments that are no object have no path
		calls = append(calls, Call{ID: b.ID, Path: args.Path})
	}
	return calls
}

// onlyText returns the digest of a content that is exactly one text block, else "".
func onlyText(content json.RawMessage) string {
	var blocks []block
	if err := json.Unmarshal(content, &blocks); err != nil || len(blocks) != 1 || blocks[0].Type != "text" {
		return ""
	}
	return readcache.Digest(blocks[0].Text)
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null"
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
