package pi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"deja/config"
	"deja/object"
	"deja/readcache"
	"deja/session"
	"deja/textfile"
)

// maxSessions is how many sessions one engine keeps. pi has one at a time in a process; beyond
// the limit the one opened longest ago is forgotten and the host has to open it again.
const maxSessions = 16

// pruneEvery is how often a project's store is looked through for old objects.
const pruneEvery = 24 * time.Hour

// Server answers one pi process.
type Server struct {
	Version string    // of deja
	Log     io.Writer // defects, with their stacks; pi shows them to nobody
	// MaxMessage is the most bytes of a message that is read; 0 means the constant of that name.
	MaxMessage int

	conn     *conn
	sessions map[string]*open
	order    []string // of the sessions, oldest first
}

// open is a session that the host has opened.
type open struct {
	engine *readcache.Engine
	policy object.Policy
	tree   *session.Tree
	paths  func(string) []string
	cwd    string
	pruned bool

	mu     sync.Mutex // guards what requests that run beside each other touch
	served map[string]int
	faults map[string]int
}

// Serve answers requests from in until it ends.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	if s.Log == nil {
		s.Log = io.Discard
	}
	s.sessions = map[string]*open{}
	if s.MaxMessage <= 0 {
		s.MaxMessage = MaxMessage
	}
	s.conn = newConn(in, out, s.Log, s.MaxMessage)
	methods := map[string]handler{
		MethodOpen:    decoded(s.open),
		MethodEntries: decoded(s.entries),
		MethodRead:    decoded(s.read),
		MethodRefresh: decoded(s.refresh),
		MethodStatus:  decoded(s.status),
		MethodClose:   decoded(s.close),
		MethodPing:    func(context.Context, json.RawMessage) (any, slow, error) { return nil, nil, nil },
	}
	s.conn.quick = s.quickEntries
	s.conn.notify(MethodReady, ReadyParams{
		Protocol: Protocol, Version: s.Version, MaxMessage: s.MaxMessage,
		Methods: []string{MethodOpen, MethodEntries, MethodRead, MethodRefresh, MethodStatus, MethodClose, MethodPing, MethodCancel},
	})
	return s.conn.serve(ctx, methods)
}

func decoded[P any](f func(P) (any, slow, error)) handler {
	return func(_ context.Context, raw json.RawMessage) (any, slow, error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, nil, refuse(CodeInvalidParams, "params: %.300v", err)
		}
		return f(p)
	}
}

func (s *Server) open(p OpenParams) (any, slow, error) {
	if p.Session == "" || !filepath.IsAbs(p.Cwd) {
		return nil, nil, refuse(CodeInvalidParams, "open: want a session id and an absolute cwd, got %.80q and %.200q", p.Session, p.Cwd)
	}
	dialect, err := p.Host.dialect()
	if err != nil {
		return nil, nil, err
	}
	if p.Home == "" {
		p.Home, _ = os.UserHomeDir() // without one, ~ is a name like any other
	}
	cfg, problems := config.Load(p.Cwd, p.Home)
	o := &open{
		engine: readcache.New(readcache.Options{Dir: p.Cwd, Home: p.Home, Dialect: dialect, Config: cfg}),
		policy: storePolicy(cfg), tree: session.New(), paths: pathKeys(p.Cwd, p.Home, dialect), cwd: p.Cwd,
		served: map[string]int{}, faults: map[string]int{},
	}
	s.forget(p.Session)
	if len(s.order) == maxSessions {
		s.forget(s.order[0])
	}
	s.sessions[p.Session], s.order = o, append(s.order, p.Session)
	res := OpenResult{Enabled: cfg.Enabled}
	for _, pr := range problems {
		res.Problems = append(res.Problems, pr.String())
	}
	return res, nil, nil
}

func (h Host) dialect() (textfile.Dialect, error) {
	d := textfile.Pi087
	switch h.FinalNewline {
	case "separator":
		d = textfile.Pi073
	case "terminator":
	default:
		return d, refuse(CodeInvalidParams, "host.finalNewline %.40q: want \"separator\" or \"terminator\"", h.FinalNewline)
	}
	if h.MaxLines > 0 {
		d.MaxLines = h.MaxLines
	}
	if h.MaxBytes > 0 {
		d.MaxBytes = h.MaxBytes
	}
	return d, nil
}

func storePolicy(c config.Config) object.Policy {
	return object.Policy{MaxBytes: c.Store.MaxBytes, MaxAge: time.Duration(c.Store.MaxAgeDays) * 24 * time.Hour}
}

func (s *Server) forget(id string) {
	if s.sessions[id] == nil {
		return
	}
	delete(s.sessions, id)
	for i, x := range s.order {
		if x == id {
			s.order = append(s.order[:i], s.order[i+1:]...)
			return
		}
	}
}

// sync adds entries to a session and returns it.
func (s *Server) sync(p EntriesParams) (*open, error) {
	o := s.sessions[p.Session]
	if o == nil {
		return nil, refuse(CodeNoSession, "session %.80q is not open; open it and send its entries again", p.Session)
	}
	for _, w := range p.Entries {
		err := o.tree.Add(w.replayed(o.paths))
		switch {
		case errors.Is(err, session.ErrFull):
			return nil, refuse(CodeFull, "%v", err)
		case err != nil:
			// A second entry with the same id, or none: it changes nothing. A leaf that was to be
			// reached through it is not there, and the request says so.
			o.count(o.faults, "bad_entry")
		}
	}
	return o, nil
}

// branch adds entries and gives the state at a leaf.
func (s *Server) branch(p EntriesParams, leaf string) (*open, session.State, error) {
	o, err := s.sync(p)
	if err != nil {
		return nil, session.State{}, err
	}
	at, err := o.tree.At(leaf)
	if err != nil {
		return nil, at, refuse(CodeNoLeaf, "%.300v; send its branch", err)
	}
	return o, at, nil
}

// quickEntries reads the bulk of what is sent, see entriesMethod.
func (s *Server) quickEntries(line []byte) (answer func()) {
	id, p, ok := entriesMethod(line)
	if !ok {
		return nil
	}
	return func() {
		s.conn.run(context.Background(), message{ID: id, Method: MethodEntries}, func(context.Context, json.RawMessage) (any, slow, error) {
			return s.entries(p)
		})
	}
}

func (s *Server) entries(p EntriesParams) (any, slow, error) {
	_, err := s.sync(p)
	return nil, nil, err
}

func (s *Server) read(p ReadParams) (any, slow, error) {
	o, at, err := s.branch(p.EntriesParams, p.Leaf)
	if err != nil {
		return nil, nil, err
	}
	req := readcache.Request{Path: p.Path}
	var oddOffset, oddLimit bool
	req.Offset, oddOffset = argument(p.Offset)
	req.Limit, oddLimit = argument(p.Limit)
	req.Odd = oddOffset || oddLimit
	prune := !o.pruned
	o.pruned = true
	return nil, func(ctx context.Context) (any, func(context.Context), error) {
		d := o.engine.Decide(ctx, at, req)
		o.count(o.served, string(d.Reason))
		after := func(ctx context.Context) {
			if err := o.engine.Keep(ctx, d); err != nil {
				o.count(o.faults, "store_write")
			}
			if prune {
				o.prune(ctx, at)
			}
		}
		return wire(d, p), after, nil
	}, nil
}

// wire writes a decision down. A read that is passed on untouched goes back as it came.
func wire(d readcache.Decision, p ReadParams) ReadResult {
	r := ReadResult{Reason: string(d.Reason), Error: d.Error}
	switch {
	case d.Error != "":
	case d.Plain == nil:
		r.Text = &d.Text
	case d.Reason == readcache.ReasonDisabled || d.Reason == readcache.ReasonArguments:
		r.Plain = &Plain{Path: p.Path, Offset: p.Offset, Limit: p.Limit}
	default:
		r.Plain = &Plain{Path: d.Plain.Path, Offset: rawNumber(d.Plain.Offset), Limit: rawNumber(d.Plain.Limit), Expect: d.Plain.Expect}
	}
	if d.Meta != nil {
		r.Meta, _ = json.Marshal(d.Meta) // strings and numbers
	}
	return r
}

func (s *Server) refresh(p RefreshParams) (any, slow, error) {
	o, err := s.sync(p.EntriesParams)
	if err != nil {
		return nil, nil, err
	}
	req := readcache.Request{Path: p.Path}
	if p.Line != nil {
		if req, err = readcache.ParseRefresh(*p.Line); err != nil {
			return nil, nil, refuse(CodeRefused, "%v", err)
		}
	} else {
		var oddOffset, oddLimit bool
		req.Offset, oddOffset = argument(p.Offset)
		req.Limit, oddLimit = argument(p.Limit)
		req.Odd = oddOffset || oddLimit
	}
	return nil, func(ctx context.Context) (any, func(context.Context), error) {
		inv, text, err := o.engine.Refresh(ctx, req, time.Now())
		if err != nil {
			return nil, nil, refuse(CodeRefused, "%v", err)
		}
		return RefreshResult{CustomType: readcache.InvalidateType, Data: inv, Text: text}, nil, nil
	}, nil
}

func (s *Server) status(p StatusParams) (any, slow, error) {
	o, at, err := s.branch(p.EntriesParams, p.Leaf)
	if err != nil {
		return nil, nil, err
	}
	return nil, func(context.Context) (any, func(context.Context), error) {
		st := o.engine.Status(at)
		o.mu.Lock()
		defer o.mu.Unlock()
		faults := maps.Clone(o.faults)
		for k, v := range p.Faults {
			faults[k] += v
		}
		text := st.Text(o.cwd)
		if len(o.served) > 0 {
			text += "\nanswers of this process: " + tally(o.served)
		}
		if len(faults) > 0 {
			text += "\nfaults of this process: " + tally(faults)
		}
		return StatusResult{Text: text, Status: st, Served: maps.Clone(o.served)}, nil, nil
	}, nil
}

func (s *Server) close(p CloseParams) (any, slow, error) {
	s.forget(p.Session)
	return nil, nil, nil
}

func (o *open) count(in map[string]int, what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	in[what]++
}

// prune removes old objects at most once a day a project, never one that the branch refers to.
func (o *open) prune(ctx context.Context, at session.State) {
	store := o.engine.Store()
	if !store.PruneDue(time.Now(), pruneEvery) {
		return
	}
	used := at.Trust.Versions()
	if _, err := store.Prune(ctx, time.Now(), o.policy, func(hash string) bool { return used[hash] }); err != nil {
		o.count(o.faults, "store_prune")
	}
}

// tally renders counts, most frequent first.
func tally(counts map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%d %s", counts[k], k)
	}
	return strings.Join(parts, ", ")
}
