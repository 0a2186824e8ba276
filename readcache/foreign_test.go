package readcache

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"deja/object"
	"deja/session"
	"deja/textfile"
	"deja/trust"
)

// foreign stores a read as the existing extension does: metadata without a digest, the version in
// the store. The text is what reached the session, "" for what the host really read. A limit of 0
// means all lines.
func (s *stage) foreign(name string, offset, limit int, text string) {
	s.Helper()
	content, err := os.ReadFile(s.path(name))
	if err != nil {
		s.Fatalf("%v", err)
	}
	hash := object.Sum(content)
	if err := s.engine.Store().Put(context.Background(), hash, content); err != nil {
		s.Fatalf("%v", err)
	}
	snap, _ := textfile.NewSnapshot("", content)
	m := &Meta{V: 1, PathKey: s.path(name), ScopeKey: "full", ServedHash: hash, Mode: trust.ModeFull, TotalLines: snap.Total(), RangeStart: 1, RangeEnd: snap.Total(), Bytes: len(content)}
	req := request(name)
	if limit > 0 {
		req = request(name, offset, limit)
		m.RangeStart, m.RangeEnd = offset, offset+limit-1
		m.ScopeKey = trust.Lines(m.RangeStart, m.RangeEnd).String()
	}
	if text == "" {
		text, _ = plainText(string(content), req.Offset, req.Limit, s.dialect)
	}
	s.store(m.PathKey, text, m, false)
}

// foreignStub stores an "unchanged" of the existing extension for these lines.
func (s *stage) foreignStub(name string, offset, limit int) {
	s.Helper()
	content, _ := os.ReadFile(s.path(name))
	snap, _ := textfile.NewSnapshot("", content)
	hash := snap.Hash()
	m := &Meta{V: 1, PathKey: s.path(name), ScopeKey: "full", ServedHash: hash, BaseHash: hash, Mode: trust.ModeUnchanged, TotalLines: snap.Total(), RangeStart: 1, RangeEnd: snap.Total(), Bytes: len(content)}
	text := unchangedText(snap.Total())
	if limit > 0 {
		m.RangeStart, m.RangeEnd, m.Mode = offset, offset+limit-1, trust.ModeUnchangedRange
		m.ScopeKey = trust.Lines(m.RangeStart, m.RangeEnd).String()
		text = unchangedRangeText(m.RangeStart, m.RangeEnd, snap.Total())
	}
	s.store(m.PathKey, text, m, false)
}

// spec 3.6: results without a digest are proven before they are a base.
func TestForeignResults(t *testing.T) {
	const lines = "[readcache: unchanged in lines 10-20 of 120]"
	for name, c := range map[string]struct {
		play func(*stage)
		want string // "" for a plain read
		ask  []int
	}{
		"whole file":                 {func(s *stage) { s.foreign("a", 0, 0, "") }, "[readcache: unchanged, 120 lines]", nil},
		"whole file, rewritten":      {func(s *stage) { s.foreign("a", 0, 0, "redacted") }, "", nil},
		"lines":                      {func(s *stage) { s.foreign("a", 10, 11, "") }, lines, []int{10, 11}},
		"lines, rewritten":           {func(s *stage) { s.foreign("a", 10, 11, "redacted") }, "", []int{10, 11}},
		"stub after lines":           {func(s *stage) { s.foreign("a", 10, 11, ""); s.foreignStub("a", 10, 11) }, lines, []int{10, 11}},
		"stub after rewritten lines": {func(s *stage) { s.foreign("a", 10, 11, "redacted"); s.foreignStub("a", 10, 11) }, "", []int{10, 11}},
		"stub for all after rewritten": {func(s *stage) {
			s.foreign("a", 1, 60, "redacted")
			s.foreign("a", 61, 60, "")
			s.foreignStub("a", 0, 0)
		}, "", nil},
		"lines after that, rewritten": {func(s *stage) {
			s.foreign("a", 1, 60, "redacted")
			s.foreign("a", 61, 60, "")
			s.foreignStub("a", 0, 0)
		}, "", []int{10, 11}},
		"stub without anything":             {func(s *stage) { s.foreignStub("a", 0, 0) }, "", nil},
		"whole file, then our own stub":     {func(s *stage) { s.foreign("a", 0, 0, ""); s.read("a") }, "[readcache: unchanged, 120 lines]", nil},
		"stub for lines of a rewritten one": {func(s *stage) { s.foreign("a", 1, 60, "redacted"); s.foreignStub("a", 10, 11) }, "", []int{10, 11}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.write("a", file(120))
			c.play(s)
			d := s.decide(request("a", c.ask...))
			if d.Text != c.want {
				t.Errorf("answer (%s) %q, want %q", d.Reason, d.Text, c.want)
			}
		})
	}
}

// spec 3.6, spec 1.1: the lines were last shown, rewritten, as of the current version; an older
// delivery does not make that good.
func TestForeignViewOfTheCurrentVersionIsProven(t *testing.T) {
	for _, ask := range [][]int{{5, 11}, {}} {
		s := newStage(t)
		s.write("a", file(120))
		s.read("a")
		s.write("a", numbered(120, map[int]string{100: "changed"}))
		s.foreign("a", 10, 11, "redacted")
		if d := s.decide(request("a", ask...)); d.Reason != ReasonUnproven {
			t.Errorf("lines %v (%s): %s", ask, d.Reason, d.Text)
		}
	}
}

// spec 3.6: without the version in the store, lines cannot be proven.
func TestForeignLinesNeedTheVersion(t *testing.T) {
	s := newStage(t)
	s.write("a", file(120))
	s.foreign("a", 10, 11, "")
	if err := os.RemoveAll(s.engine.Store().Dir()); err != nil {
		t.Fatal(err)
	}
	s.plain(s.decide(request("a", 10, 11)), ReasonNoObject, trust.ModeFallback, "r:10:20")
}

// spec 9.3, spec 1.2: a damaged version counts as missing.
func TestDamagedVersion(t *testing.T) {
	s := newStage(t)
	s.write("a", file(120))
	d := s.read("a")
	name := filepath.Join(s.engine.Store().Dir(), "objects", "sha256-"+d.Meta.ServedHash+".txt")
	if err := os.WriteFile(name, []byte(file(119)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.write("a", numbered(120, map[int]string{50: "changed"}))
	s.plain(s.read("a"), ReasonNoObject, trust.ModeFallback, "full")
}

// spec 3.6: what the session holds is compared with what was answered.
func TestEvidence(t *testing.T) {
	hash, other := Digest("x\ny"), Digest("z")
	text := "x\ny"
	meta := func(change func(*Meta)) json.RawMessage {
		m := Meta{V: 1, PathKey: "/a", ScopeKey: "full", ServedHash: hash, Mode: trust.ModeFull, TotalLines: 2, RangeStart: 1, RangeEnd: 2, Bytes: 3}
		change(&m)
		raw, _ := json.Marshal(m)
		return raw
	}
	digest := func(m *Meta) { m.Digest = Digest(text)[:32] }
	lines := func(m *Meta) { m.ScopeKey, m.RangeEnd = "r:1:1", 1 }
	claim := func(mode trust.Mode) func(*Meta) { return func(m *Meta) { m.Mode, m.BaseHash = mode, hash } }
	for name, c := range map[string]struct {
		raw    json.RawMessage
		stored Stored
		proves bool
		scope  trust.Scope
		text   bool // to be proven later
		path   string
	}{
		"digest":              {meta(digest), Stored{Digest: Digest(text)}, true, trust.Full, false, "/a"},
		"digest of another":   {meta(digest), Stored{Digest: other}, false, trust.Full, false, "/a"},
		"no single text":      {meta(digest), Stored{}, false, trust.Full, false, "/a"},
		"whole by hash":       {meta(func(*Meta) {}), Stored{Digest: hash}, true, trust.Full, false, "/a"},
		"whole, other text":   {meta(func(*Meta) {}), Stored{Digest: other}, false, trust.Full, false, "/a"},
		"whole, no text":      {meta(func(*Meta) {}), Stored{}, false, trust.Full, false, "/a"},
		"lines":               {meta(lines), Stored{Digest: other}, true, trust.Lines(1, 1), true, "/a"},
		"whole, but cut":      {meta(func(*Meta) {}), Stored{Digest: other, Cut: true, CutLines: 1}, true, trust.Lines(1, 1), true, "/a"},
		"cut to nothing":      {meta(func(*Meta) {}), Stored{Digest: other, Cut: true}, false, trust.Full, false, "/a"},
		"cut to more":         {meta(func(*Meta) {}), Stored{Digest: other, Cut: true, CutLines: 3}, false, trust.Full, false, "/a"},
		"stub":                {meta(claim(trust.ModeUnchanged)), Stored{Digest: Digest("[readcache: unchanged, 2 lines]")}, true, trust.Full, false, "/a"},
		"stub, other count":   {meta(claim(trust.ModeUnchanged)), Stored{Digest: Digest("[readcache: unchanged, 3 lines]")}, false, trust.Full, false, "/a"},
		"diff without digest": {meta(claim(trust.ModeDiff)), Stored{Digest: other}, false, trust.Full, false, "/a"},
		"damaged":             {json.RawMessage(`{"v":1,"pathKey":"/b"}`), Stored{Digest: hash}, false, trust.Full, false, "/b"},
		"no JSON":             {json.RawMessage(`{`), Stored{Digest: hash}, false, trust.Full, false, ""},
		"none":                {nil, Stored{Digest: hash}, false, trust.Full, false, ""},
		"another version":     {meta(func(m *Meta) { m.V = 2 }), Stored{Digest: hash}, false, trust.Full, false, "/a"},
	} {
		t.Run(name, func(t *testing.T) {
			read, _, path := Evidence(c.raw, c.stored)
			if (read != nil) != c.proves || path != c.path {
				t.Fatalf("read %+v, path %q; want proof %v, path %q", read, path, c.proves, c.path)
			}
			if read != nil && (read.Scope != c.scope || (read.Text != "") != c.text) {
				t.Errorf("read %+v; want scope %s, text to be proven %v", read, c.scope, c.text)
			}
		})
	}
}

// spec 3.7: what a claim says it saved is taken within bounds.
func TestSavedIsBounded(t *testing.T) {
	text := unchangedText(2)
	for saved, want := range map[int64]int64{-5: 0, 0: 0, 7: 7, 1 << 60: 1 << 30} {
		raw, _ := json.Marshal(Meta{
			V: 1, PathKey: "/a", ScopeKey: "full", ServedHash: Digest(""), BaseHash: Digest(""), Mode: trust.ModeUnchanged,
			TotalLines: 2, RangeStart: 1, RangeEnd: 2, Digest: Digest(text)[:32], Saved: saved,
		})
		if _, got, _ := Evidence(raw, Stored{Digest: Digest(text)}); got != want {
			t.Errorf("saved %d counts as %d, want %d", saved, got, want)
		}
	}
}

// spec 3.5, spec 1.3: results that are no deliveries, and siblings of a batch.
func TestWhatIsNoDelivery(t *testing.T) {
	for name, c := range map[string]struct {
		play func(s *stage, d Decision, text string)
		ok   bool // a claim afterwards
	}{
		"stored":           {func(s *stage, d Decision, text string) { s.store(s.path("a"), text, d.Meta, false) }, true},
		"error with meta":  {func(s *stage, d Decision, text string) { s.store(s.path("a"), text, d.Meta, true) }, false},
		"never stored":     {func(s *stage, d Decision, text string) {}, false},
		"rewritten":        {func(s *stage, d Decision, text string) { s.store(s.path("a"), text+" ", d.Meta, false) }, false},
		"without metadata": {func(s *stage, d Decision, text string) { s.store(s.path("a"), text, nil, false) }, false},
		"then compacted":   {func(s *stage, d Decision, text string) { s.store(s.path("a"), text, d.Meta, false); s.compact() }, false},
		"then a plain read": {func(s *stage, d Decision, text string) {
			s.store(s.path("a"), text, d.Meta, false)
			s.store(s.path("a"), text, nil, false)
		}, false},
		"then omitted": {func(s *stage, d Decision, text string) {
			s.store(s.path("a"), text, d.Meta, false)
			s.add(session.Entry{Kind: session.Edit, Target: s.leaf, Omit: true})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.write("a", file(120))
			d := s.decide(request("a"))
			text, _, _ := s.answer(d)
			c.play(s, d, text)
			if again := s.decide(request("a")); (again.Reason == ReasonClaim) != c.ok {
				t.Errorf("the next read: %s", again.Reason)
			}
		})
	}
}
