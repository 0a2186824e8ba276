package readcache

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"deja/config"
	"deja/linediff"
	"deja/object"
	"deja/session"
	"deja/textfile"
)

// Engine answers the reads of one project. It holds no state of its own that a decision depends
// on: settings, the place of the object store, and how the host counts and cuts. It is safe for
// concurrent use.
type Engine struct {
	cwd     string
	home    string
	dialect textfile.Dialect
	config  config.Config
	store   *object.Store

	mu sync.Mutex
	// writing holds the versions on their way into the store: a read that follows at once must
	// find its base. Each is there from its decision to the end of Keep.
	writing map[string]*textfile.Snapshot
}

// Options say where an Engine works and what its host's plain read is like.
type Options struct {
	Dir     string // the project: relative paths and the object store
	Home    string // for ~
	Dialect textfile.Dialect
	Config  config.Config
}

// New returns an engine. It touches no file.
func New(o Options) *Engine {
	var limit []object.Option
	if n := o.Config.MaxFileBytes; n > object.DefaultMaxObject {
		limit = append(limit, object.WithMaxObject(n)) // what may be read may be kept
	}
	return &Engine{
		cwd: o.Dir, home: o.Home, dialect: o.Dialect, config: o.Config,
		store:   object.Open(filepath.Join(o.Dir, StoreDir), limit...),
		writing: map[string]*textfile.Snapshot{},
	}
}

// StoreDir is where a project's objects are, relative to its folder (spec 9.1).
const StoreDir = ".pi/readcache"

// Store returns the object store, for status and pruning.
func (e *Engine) Store() *object.Store { return e.store }

// Request is a call of the read tool. Offset and Limit are nil when not given.
type Request struct {
	Path          string
	Offset, Limit *int
	// Odd says that offset or limit was given but is no integer; the host's read deals with it.
	Odd bool
}

// Decision is how a read is to be answered. Exactly one of the three holds: Error is set; Text is
// set; or the host runs its own read with the arguments in Plain.
type Decision struct {
	Reason Reason
	Error  string // the text of an error result
	Text   string // a claim, to be served instead of the content
	Plain  *PlainRead
	// Meta goes into the result's details; nil for none. For a plain read it holds only if the
	// host's text has the digest Plain.Expect.
	Meta *Meta

	keep *textfile.Snapshot // to be put into the store
}

// PlainRead is the host's own read, and what it must deliver for the metadata to be true.
type PlainRead struct {
	Path          string
	Offset, Limit *int
	Expect        string // SHA-256 of the text; "" when any text is right and there is no metadata
}

// Keep stores the version that a decision was about, so that later reads can be compared with
// it (spec 6.10). Call it once for each decision, after the answer is on its way. An error means
// that later answers are plain reads; nothing else is lost.
func (e *Engine) Keep(ctx context.Context, d Decision) error {
	if d.keep == nil {
		return nil
	}
	err := e.store.Put(ctx, d.keep.Hash(), d.keep.Bytes())
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.writing[d.keep.Hash()] == d.keep {
		delete(e.writing, d.keep.Hash())
	}
	return err
}

// version returns a version that was kept, or is being kept.
func (e *Engine) version(ctx context.Context, path, hash string) (*textfile.Snapshot, error) {
	e.mu.Lock()
	snap := e.writing[hash]
	e.mu.Unlock()
	if snap != nil {
		return snap, nil
	}
	content, err := e.store.Get(ctx, hash)
	if err != nil {
		return nil, err
	}
	return textfile.NewSnapshot(path, content)
}

// Decide answers a read at a branch of the session (spec 6). It reads the file once: what it
// compares, hashes and keeps are the same bytes.
func (e *Engine) Decide(ctx context.Context, at session.State, req Request) Decision {
	if !e.config.Enabled {
		return untouched(req, ReasonDisabled)
	}
	if req.Odd || below1(req.Offset) || below1(req.Limit) {
		return untouched(req, ReasonArguments)
	}
	target, err := textfile.ParseTarget(req.Path, req.Offset, req.Limit, e.cwd, e.home, e.dialect)
	if err != nil {
		return Decision{Reason: ReasonBadRange, Error: err.Error()}
	}
	plain := func(why Reason) Decision {
		return Decision{Reason: why, Plain: &PlainRead{Path: target.Arg, Offset: target.Offset, Limit: target.Limit}}
	}
	// What is opened is what was looked at: a link may be pointed at a secret in between.
	real, err := filepath.EvalSymlinks(target.Path)
	if err != nil {
		return plain(loadReason(ctx, err))
	}
	if e.config.Excluded(target.Path, real) {
		return plain(ReasonExcluded)
	}
	snap, err := textfile.Load(ctx, real, e.config.MaxFileBytes)
	if err != nil {
		return plain(loadReason(ctx, err))
	}
	shown, err := textfile.Plain(snap, target.Arg, target.Offset, target.Limit, e.dialect)
	if err != nil {
		return plain(ReasonPastEnd)
	}
	name, ok := key(target.Path)
	if !ok {
		return plain(ReasonNoKey)
	}
	r := &read{Engine: e, ctx: ctx, at: at, path: name, name: target.Arg, snap: snap, shown: shown}
	r.bounds(target.Offset, target.Limit)
	d, ok := r.claim()
	if !ok {
		d = r.plain(plain(r.reason))
	}
	if d.keep != nil {
		e.mu.Lock()
		e.writing[d.keep.Hash()] = d.keep
		e.mu.Unlock()
	}
	return d
}

func below1(n *int) bool { return n != nil && *n < 1 }

// untouched passes a read on to the host exactly as the model asked for it.
func untouched(req Request, why Reason) Decision {
	return Decision{Reason: why, Plain: &PlainRead{Path: req.Path, Offset: req.Offset, Limit: req.Limit}}
}

// key is the key of the file that a path opens (spec 2.3). A host that does not clean absolute paths opens
// one file by several of them; links may make the cleaned one another file, and then there is no key.
func key(opened string) (string, bool) {
	clean := filepath.Clean(opened)
	if clean == opened {
		return clean, true
	}
	a, err := os.Stat(clean)
	if err != nil {
		return "", false
	}
	b, err := os.Stat(opened)
	return clean, err == nil && os.SameFile(a, b)
}

func (e *Engine) diffLimits() linediff.Limits {
	d := e.config.Diff
	return linediff.Limits{MaxBytes: int(d.MaxBytes), MaxLines: d.MaxLines, MaxByteRatio: d.ByteRatio, MaxLineRatio: d.LineRatio}
}
