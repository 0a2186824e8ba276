package readcache

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deja/session"
	"deja/textfile"
	"deja/trust"
)

// walker lives a random life with a stage and an oracle: files change, a model reads, the session
// branches, shrinks and is edited.
type walker struct {
	*stage
	t        *rapid.T
	files    map[string]string
	versions map[string]string // content by hash, of all that was ever written
	entries  map[string]walked
	claims   map[string]int // by the first words of their text
}

// walked is an entry as the oracle sees it.
type walked struct {
	parent string
	kind   session.Kind
	result *delivery
	caller string
	target string
	omit   bool
}

// spec 1.1, spec 1.3, spec 1.4, spec 1.5, spec 4.7, spec 6.5: whatever happened before, each claim
// can be resolved to the current lines from the texts of its branch alone, and it is shorter than
// the plain read.
func TestClaimsAreTrue(t *testing.T) {
	root := t.TempDir()
	runs, claims := 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := fmt.Sprintf("%s/%d", root, runs)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		dialect := textfile.Dialect{
			MaxLines: rapid.SampledFrom([]int{5, 1000, 1000}).Draw(t, "maxLines"),
			MaxBytes: rapid.SampledFrom([]int{600, 50_000, 50_000}).Draw(t, "maxBytes"),
		}
		w := &walker{
			stage: stageIn(t, dir, dialect), t: t, files: map[string]string{}, versions: map[string]string{}, entries: map[string]walked{}, claims: claims,
		}
		for _, name := range []string{"a", "b"} {
			w.change(name)
		}
		for range rapid.IntRange(5, 25).Draw(t, "steps") {
			w.step()
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("claims in %d runs: %v", runs, claims)
	if !t.Failed() && len(claims) < 4 {
		t.Errorf("the walk meets only %d of the 6 forms of claims", len(claims))
	}
}

// form is what makes two claims of the same form differ.
var form = regexp.MustCompile(`(?s)\d+|-\d+|\n--- .*|Use.*`)

func (w *walker) step() {
	name := rapid.SampledFrom([]string{"a", "a", "b"}).Draw(w.t, "file")
	switch rapid.IntRange(0, 39).Draw(w.t, "step") {
	case 0, 1, 2, 3:
		w.change(name)
	case 4:
		w.add2(session.Entry{Kind: session.User}, walked{})
	case 5:
		w.add2(session.Entry{Kind: session.Compaction}, walked{})
	case 6, 15:
		w.leaf = w.any("go to", func(walked) bool { return true })
	case 7, 19:
		target := w.any("edit", func(e walked) bool { return e.kind == session.Result || e.kind == session.Assistant })
		omit := rapid.Bool().Draw(w.t, "omit")
		w.add2(session.Entry{Kind: session.Edit, Target: target, Omit: omit}, walked{target: target, omit: omit})
	case 8:
		inv, _, err := w.engine.Refresh(context.Background(), w.anyRequest(name), inTheEighties)
		if err == nil {
			scope, _ := trust.ParseScope(inv.ScopeKey)
			w.add2(session.Entry{Kind: session.Invalidation, Path: inv.PathKey, Scope: scope}, walked{})
		}
	case 9:
		_ = os.RemoveAll(w.engine.Store().Dir())
	case 10, 17, 18:
		w.foreignRead(name)
	case 11:
		w.turn(name, true)
	case 12, 13, 14: // the same file in one batch
		d1, d2 := w.decideOne(name), w.decideOne(name)
		w.answerAll(d1, d2)
	default:
		w.turn(name, false)
	}
}

func (w *walker) any(label string, fit func(walked) bool) string {
	ids := []string{}
	for id, e := range w.entries {
		if fit(e) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	slices.Sort(ids)
	return rapid.SampledFrom(ids).Draw(w.t, label)
}

// change writes a new version, sometimes an old one again.
func (w *walker) change(name string) {
	lines := strings.Split(w.files[name], "\n")
	switch kind := rapid.IntRange(0, 5).Draw(w.t, "change"); {
	case w.files[name] == "" || kind == 0:
		lines = nil
		for i := range rapid.IntRange(1, 20).Draw(w.t, "lines") {
			lines = append(lines, fmt.Sprintf("line %d of the file %s, which goes on for a while so that a diff is worth it", i+1, name))
		}
	case kind == 1 && len(lines) < maxLine-5:
		lines = slices.Insert(lines, rapid.IntRange(0, len(lines)).Draw(w.t, "at"), "an inserted line that is new")
	case kind == 2 && len(lines) > 1:
		at := rapid.IntRange(0, len(lines)-1).Draw(w.t, "at")
		lines = slices.Delete(lines, at, at+1)
	case kind == 3:
		old := []string{}
		for _, content := range w.versions {
			old = append(old, content)
		}
		slices.Sort(old)
		lines = strings.Split(rapid.SampledFrom(old).Draw(w.t, "old version"), "\n")
	default:
		lines[rapid.IntRange(0, len(lines)-1).Draw(w.t, "at")] = rapid.SampledFrom([]string{"", "changed", "changed in another way, and longer"}).Draw(w.t, "to")
	}
	w.files[name] = strings.Join(lines, "\n")
	w.versions[Digest(w.files[name])] = w.files[name]
	w.write(name, w.files[name])
}

func (w *walker) anyRequest(name string) Request {
	total := strings.Count(w.files[name], "\n") + 1
	from := rapid.IntRange(1, total).Draw(w.t, "from")
	switch rapid.IntRange(0, 8).Draw(w.t, "range") {
	case 0:
		return request(name, from)
	case 1, 2:
		return request(name, from, rapid.IntRange(1, total).Draw(w.t, "limit"))
	case 3:
		return request(fmt.Sprintf("%s:%d-%d", name, from, rapid.IntRange(from, total+2).Draw(w.t, "to")))
	}
	return request(name)
}

// pending is a read that was decided and answered, and is not in the session yet.
type pending struct {
	path, text string
	meta       *Meta
	delivery   delivery
}

// decideOne decides a read at the current leaf and asks the oracle about the claim.
func (w *walker) decideOne(name string) pending {
	req := w.anyRequest(name)
	d := w.decide(req)
	text, meta, failed := w.answer(d)
	if failed {
		w.Fatalf("%+v failed: %s", req, text)
	}
	p := pending{path: w.path(name), text: text, meta: meta}
	current := w.files[name]
	plain := textOf(current, d, req, w.dialect, name)
	if d.Text == "" {
		p.delivery = plainDelivery(p.path, plain, current, d.Plain.Offset, w.dialect)
	} else {
		w.claims[form.ReplaceAllString(text, "")]++
		scope, _ := trust.ParseScope(meta.ScopeKey)
		if scope.Whole() {
			scope = trust.Lines(1, strings.Count(current, "\n")+1)
		}
		p.delivery = delivery{
			path: p.path, lo: scope.Start, hi: scope.End, mode: meta.Mode,
			current: current, base: w.versions[meta.BaseHash], text: text,
		}
		if len(text) >= len(plain) {
			w.Fatalf("the claim is no shorter than the plain read:\n%s\n--\n%s", text, plain)
		}
		if err := w.oracle().resolve(p.delivery); err != nil {
			w.Fatalf("%+v was answered with\n%s\nbut %v", req, text, err)
		}
	}
	_ = w.engine.Keep(context.Background(), d)
	return p
}

// textOf is the plain read of the request, also where a claim was served.
func textOf(current string, d Decision, req Request, dialect textfile.Dialect, name string) string {
	offset, limit := req.Offset, req.Limit
	if _, suffix, ok := strings.Cut(req.Path, ":"); ok {
		var from, to int
		_, _ = fmt.Sscanf(suffix, "%d-%d", &from, &to)
		n := to - from + 1
		offset, limit = &from, &n
	}
	if d.Plain != nil && (d.Plain.Path != name || !same(offset, d.Plain.Offset) || !same(limit, d.Plain.Limit)) {
		return "the host was asked for another read"
	}
	text, _ := plainText(current, offset, limit, dialect)
	return text
}

// plainDelivery says which lines a plain read shows, by comparing it with the file.
func plainDelivery(path, text, current string, offset *int, d textfile.Dialect) delivery {
	all := strings.Split(current, "\n")
	from := 1
	if offset != nil {
		from = *offset
	}
	if text == "[Line too long]" {
		return delivery{path: path, lo: from, hi: from - 1, lines: []string{}}
	}
	body := text
	if i := strings.LastIndex(text, "\n\n["); i >= 0 && strings.HasSuffix(text, " to continue.]") {
		body = text[:i]
	}
	lines := strings.Split(body, "\n")
	to := from + len(lines) - 1
	return delivery{path: path, lo: from, hi: to, lines: lines, ends: from == 1 && to == len(all)}
}

func (w *walker) turn(name string, spoil bool) {
	p := w.decideOne(name)
	if spoil { // the result fails, is lost, or is rewritten on its way
		switch rapid.IntRange(0, 2).Draw(w.t, "spoil") {
		case 0:
			caller := w.call(p.path)
			w.put(caller, p, true)
			return
		case 1:
			return
		}
		p = redact(p)
	}
	w.answerAll(p)
}

func redact(p pending) pending {
	p.text += "\n[redacted]"
	p.delivery.lines = slices.Clone(p.delivery.lines)
	if p.delivery.lines == nil {
		p.delivery = delivery{path: p.path, lo: 1, hi: maxLine, lines: slices.Repeat([]string{unknown}, maxLine)}
	}
	for i := range p.delivery.lines {
		p.delivery.lines[i] = "[redacted]"
	}
	return p
}

// foreignRead is a read, or a stub, of the existing extension: no digest.
func (w *walker) foreignRead(name string) {
	p := w.decideOne(name)
	if p.meta == nil {
		return
	}
	m := *p.meta
	m.Digest = ""
	if m.Mode.Anchor() && rapid.IntRange(0, 2).Draw(w.t, "redacted") == 0 {
		p = redact(p)
	}
	p.meta = &m
	w.answerAll(p)
}

func (w *walker) call(path string) string {
	return w.add2(session.Entry{Kind: session.Assistant, Calls: []session.Call{{ID: "c", Paths: []string{path}}}}, walked{})
}

func (w *walker) answerAll(all ...pending) {
	caller := w.call(all[0].path)
	for _, p := range all {
		w.put(caller, p, false)
	}
}

func (w *walker) put(caller string, p pending, failed bool) {
	parent := w.leaf
	id := w.result("c", p.text, p.meta, failed)
	e := walked{parent: parent, kind: session.Result, caller: caller}
	if !failed {
		e.result = &p.delivery
	}
	w.entries[id] = e
}

// add2 puts an entry into the session and into the books of the oracle.
func (w *walker) add2(e session.Entry, as walked) string {
	as.parent, as.kind = w.leaf, e.Kind
	id := w.add(e)
	w.entries[id] = as
	return id
}

// oracle reads the branch from its last compaction on.
func (w *walker) oracle() oracle {
	branch, edits := []string{}, map[string]string{}
	for id := w.leaf; id != ""; id = w.entries[id].parent {
		e := w.entries[id]
		if e.kind == session.Edit && edits[e.target] == "" {
			edits[e.target] = map[bool]string{true: "omit", false: "replace"}[e.omit]
		}
		branch = append(branch, id)
	}
	slices.Reverse(branch)
	o := oracle{}
	for _, id := range branch {
		e := w.entries[id]
		switch {
		case e.kind == session.Compaction:
			o = oracle{}
		case e.result == nil || edits[id] == "omit" || edits[e.caller] == "omit":
		case edits[id] == "replace" || edits[e.caller] == "replace":
			for i := 1; i <= maxLine; i++ {
				o.show(e.result.path, i, unknown)
			}
		default:
			o.apply(*e.result)
		}
	}
	return o
}
