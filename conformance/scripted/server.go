package scripted

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Defaults of [Config].
const (
	defaultMaxRequests = 4096
	defaultMaxBody     = 32 << 20
	defaultSummary     = "Summary of the earlier conversation, as scripted."
	closingText        = "done"
)

// A Config says how a server behaves; the zero value is ready to use.
type Config struct {
	// MaxRequests is how many requests are recorded (default 4096). Further
	// ones get an error answer: a host that loops must not fill the memory.
	MaxRequests int
	// MaxBody is the longest accepted body in bytes (default 32 MiB).
	MaxBody int64
	// IDPrefix starts the ids the server gives to calls (default "call"). A
	// second server that continues a session needs another one, so that ids
	// stay unique in the session.
	IDPrefix string
	// Summary is the answer to every summarisation request.
	Summary string
}

// A Server is the scripted model. It is safe for concurrent use, but turns are
// handed out in order of arrival: let one host process at a time speak to it.
type Server struct {
	cfg  Config
	http *http.Server
	addr string
	stop chan struct{}

	mu      sync.Mutex
	closed  bool
	queue   []Turn
	nextID  int
	records []Request
	grown   chan struct{} // closed and replaced when records grows
	fault   error
}

// Start listens on a free loopback port.
func Start(cfg Config) (*Server, error) {
	if cfg.MaxRequests <= 0 {
		cfg.MaxRequests = defaultMaxRequests
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = defaultMaxBody
	}
	if cfg.IDPrefix == "" {
		cfg.IDPrefix = "call"
	}
	if cfg.Summary == "" {
		cfg.Summary = defaultSummary
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("scripted: %w", err)
	}
	s := &Server{cfg: cfg, addr: l.Addr().String(), stop: make(chan struct{}), grown: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.serve)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }() // returns when Close closes the listener
	return s, nil
}

// URL is the base URL for a provider configuration, without a final slash.
func (s *Server) URL() string { return "http://" + s.addr + "/v1" }

// Summary is the text of every summary the server gives.
func (s *Server) Summary() string { return s.cfg.Summary }

// Close ends all open responses, hanging ones too. It may be called twice.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.stop)
	return s.http.Close()
}

// Queue appends turns to the script and returns them with call ids filled. The
// arguments must encode as JSON.
func (s *Server) Queue(turns ...Turn) ([]Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	filled := make([]Turn, 0, len(turns))
	for _, t := range turns {
		t.Calls = slices.Clone(t.Calls)
		for i := range t.Calls {
			if _, err := t.Calls[i].arguments(); err != nil {
				return nil, err
			}
			if t.Calls[i].ID == "" {
				s.nextID++
				t.Calls[i].ID = fmt.Sprintf("%s_%d", s.cfg.IDPrefix, s.nextID)
			}
		}
		filled = append(filled, t)
	}
	s.queue = append(s.queue, filled...)
	return filled, nil
}

// Drain empties the script and returns the turns nobody asked for.
func (s *Server) Drain() []Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.queue
	s.queue = nil
	return rest
}

// Count is the number of requests recorded so far.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.records)
}

// Since returns the recorded requests from index from on; Since(0) is all.
func (s *Server) Since(from int) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.records[min(max(from, 0), len(s.records)):])
}

// Wait blocks until n requests have been recorded in all.
func (s *Server) Wait(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		have, grown := len(s.records), s.grown
		s.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-grown:
		case <-s.stop:
			return errors.New("scripted: server closed")
		case <-ctx.Done():
			return fmt.Errorf("scripted: %d of %d requests: %w", have, n, ctx.Err())
		}
	}
}

// Err is the first request the server could not accept (undecodable, too long,
// too many), or nil. An oracle must look at it: such a request is not recorded.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// serve answers one chat/completions request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	if err != nil {
		s.refuse(w, fmt.Errorf("scripted: reading the body: %w", err))
		return
	}
	req, err := parseRequest(raw)
	if err != nil {
		s.refuse(w, err)
		return
	}
	req, err = s.record(req)
	if err != nil {
		s.refuse(w, err)
		return
	}
	s.answer(w, r, req)
}

// record chooses the turn for a request and stores both.
func (s *Server) record(req Request) (Request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.records) >= s.cfg.MaxRequests {
		return req, fmt.Errorf("scripted: more than %d requests", s.cfg.MaxRequests)
	}
	switch {
	case req.Summary:
		req.Answer = Say(s.cfg.Summary)
	case len(s.queue) > 0:
		req.Answer, s.queue = s.queue[0], s.queue[1:]
	default:
		req.Answer, req.Unscripted = Say(closingText), true
	}
	req.Index = len(s.records)
	s.records = append(s.records, req)
	close(s.grown)
	s.grown = make(chan struct{})
	return req, nil
}

// refuse answers with an error and keeps the first one for Err.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	s.mu.Lock()
	if s.fault == nil && !s.closed {
		s.fault = err
	}
	s.mu.Unlock()
	writeError(w, http.StatusBadRequest, err.Error())
}
