package readcache

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deja/config"
	"deja/session"
	"deja/textfile"
	"deja/trust"
)

// tb is what testing.T and rapid.T have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// stage is a project with a session in which a model reads files: the least host there can be.
// Each read is decided, answered and stored as the host does it.
type stage struct {
	tb
	dir     string
	engine  *Engine
	dialect textfile.Dialect
	tree    *session.Tree
	leaf    string
	n       int // entries so far, for their ids
}

func newStage(t *testing.T, settings ...func(*config.Config)) *stage {
	t.Helper()
	return stageIn(t, t.TempDir(), textfile.Pi073, settings...)
}

func stageIn(t tb, dir string, d textfile.Dialect, settings ...func(*config.Config)) *stage {
	c := config.Default()
	for _, set := range settings {
		set(&c)
	}
	e := New(Options{Dir: dir, Home: dir, Dialect: d, Config: c})
	return &stage{tb: t, dir: dir, engine: e, dialect: d, tree: session.New()}
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stage) write(name, content string) {
	s.Helper()
	if err := os.WriteFile(s.path(name), []byte(content), 0o600); err != nil {
		s.Fatalf("%v", err)
	}
}

func (s *stage) state() session.State {
	s.Helper()
	at, err := s.tree.At(s.leaf)
	if err != nil {
		s.Fatalf("%v", err)
	}
	return at
}

func (s *stage) add(e session.Entry) string {
	s.Helper()
	s.n++
	e.ID, e.Parent = fmt.Sprint("e", s.n), s.leaf
	if err := s.tree.Add(e); err != nil {
		s.Fatalf("%v", err)
	}
	s.leaf = e.ID
	return e.ID
}

func (s *stage) user() { s.add(session.Entry{Kind: session.User}) }

func (s *stage) compact() { s.add(session.Entry{Kind: session.Compaction}) }

// request makes a request; lines may be an offset, or an offset and a limit.
func request(path string, lines ...int) Request {
	req := Request{Path: path}
	if len(lines) > 0 {
		req.Offset = &lines[0]
	}
	if len(lines) > 1 {
		req.Limit = &lines[1]
	}
	return req
}

func (s *stage) decide(req Request) Decision {
	return s.engine.Decide(context.Background(), s.state(), req)
}

// answer is the text that reaches the session: the claim, or what the host's own read gives. For a
// host that sees another text than the decision expects there is no metadata.
func (s *stage) answer(d Decision) (text string, meta *Meta, failed bool) {
	s.Helper()
	switch {
	case d.Error != "":
		return d.Error, nil, true
	case d.Text != "":
		return d.Text, d.Meta, false
	}
	content, err := os.ReadFile(textfile.Resolve(d.Plain.Path, s.dir, s.dir, s.dialect))
	if err != nil {
		return err.Error(), nil, true
	}
	text, ok := plainText(string(content), d.Plain.Offset, d.Plain.Limit, s.dialect)
	if ok && Digest(text) == d.Plain.Expect {
		return text, d.Meta, false
	}
	if d.Meta != nil {
		s.Fatalf("the plain read is not the one that the metadata is about:\n%s", text)
	}
	return text, nil, !ok
}

// plainText is the host's read, written down again in the plainest way; ok is false past the end.
func plainText(content string, offset, limit *int, d textfile.Dialect) (string, bool) {
	all := strings.Split(content, "\n")
	from, to := 1, len(all)
	if offset != nil {
		from = *offset
	}
	if limit != nil {
		to = min(to, from+*limit-1)
	}
	if from > len(all) {
		return "beyond end of file", false
	}
	shown, size := []string{}, 0
	for _, line := range all[from-1 : to] {
		if len(shown) == d.MaxLines || size+len(line)+min(len(shown), 1) > d.MaxBytes {
			break
		}
		size += len(line) + min(len(shown), 1)
		shown = append(shown, line)
	}
	last := from + len(shown) - 1
	text := strings.Join(shown, "\n")
	switch {
	case last < to && len(shown) == 0:
		return "[Line too long]", true // the decision carries no metadata, so any text will do
	case last < to && len(shown) < d.MaxLines:
		kb := fmt.Sprintf("%.1fKB", float64(d.MaxBytes)/1024)
		if d.MaxBytes < 1024 {
			kb = fmt.Sprintf("%dB", d.MaxBytes)
		}
		text += fmt.Sprintf("\n\n[Showing lines %d-%d of %d (%s limit). Use offset=%d to continue.]", from, last, len(all), kb, last+1)
	case last < to:
		text += fmt.Sprintf("\n\n[Showing lines %d-%d of %d. Use offset=%d to continue.]", from, last, len(all), last+1)
	case last < len(all):
		text += fmt.Sprintf("\n\n[%d more lines in file. Use offset=%d to continue.]", len(all)-last, last+1)
	}
	return text, true
}

// store puts an answer into the session, as the call and its result.
func (s *stage) store(path, text string, meta *Meta, failed bool) {
	s.Helper()
	s.add(session.Entry{Kind: session.Assistant, Calls: []session.Call{{ID: "c", Paths: []string{path}}}})
	s.result("c", text, meta, failed)
}

func (s *stage) result(call, text string, meta *Meta, failed bool) string {
	s.Helper()
	e := session.Entry{Kind: session.Result, IsRead: true, CallID: call, Failed: failed}
	if !failed {
		var raw json.RawMessage
		if meta != nil {
			raw, _ = json.Marshal(meta)
		}
		path := ""
		e.Read, e.Saved, path = Evidence(raw, Stored{Digest: Digest(text)})
		if e.Read == nil && path != "" {
			e.Paths = []string{path}
		}
	}
	return s.add(e)
}

// read is a whole turn: decide, answer, store, keep.
func (s *stage) read(path string, lines ...int) Decision {
	s.Helper()
	d := s.decide(request(path, lines...))
	text, meta, failed := s.answer(d)
	key := s.path(path)
	if d.Meta != nil {
		key = d.Meta.PathKey
	}
	s.store(key, text, meta, failed)
	if err := s.engine.Keep(context.Background(), d); err != nil {
		s.Fatalf("%v", err)
	}
	return d
}

// claim wants d to be a claim with just this text.
func (s *stage) claim(d Decision, mode trust.Mode, scope, text string) {
	s.Helper()
	if d.Reason != ReasonClaim || d.Text != text || d.Plain != nil || d.Error != "" {
		s.Fatalf("answer (%s):\n%s\nwant:\n%s", d.Reason, d.Text, text)
	}
	if m := d.Meta; m == nil || m.Mode != mode || m.ScopeKey != scope || m.Digest != Digest(text)[:32] {
		s.Fatalf("metadata %+v; want mode %s, scope %s", m, mode, scope)
	}
}

// plain wants d to be the host's read with metadata of this mode and scope; an empty mode means no
// metadata.
func (s *stage) plain(d Decision, why Reason, mode trust.Mode, scope string) {
	s.Helper()
	if d.Reason != why || d.Plain == nil || d.Text != "" || d.Error != "" {
		s.Fatalf("%s, text %q, error %q; want the plain read because of %s", d.Reason, d.Text, d.Error, why)
	}
	if mode == "" {
		if d.Meta != nil || d.Plain.Expect != "" || d.keep != nil {
			s.Fatalf("metadata %+v; want none", d.Meta)
		}
		return
	}
	if m := d.Meta; m == nil || m.Mode != mode || m.ScopeKey != scope || !strings.HasPrefix(d.Plain.Expect, m.Digest) || m.Digest == "" {
		s.Fatalf("metadata %+v; want mode %s, scope %s", m, mode, scope)
	}
}

// file makes a text of n lines, the last one empty as in most files. Beyond 500 lines they are short,
// so that 2000 of them are within the limit of 50 KB.
func file(n int) string { return numbered(n, nil) }

// numbered makes a text of n lines in which some are other lines than usual.
func numbered(n int, other map[int]string) string {
	var b strings.Builder
	form := "this is line number %d of the file"
	if n > 500 {
		form = "line %d"
	}
	for i := 1; i < n; i++ {
		line, found := other[i]
		if !found {
			line = fmt.Sprintf(form, i)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
