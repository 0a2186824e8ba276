package readcache

import (
	"fmt"
	"path/filepath"
	"strings"

	"deja/session"
)

// Status is what the replay of a branch shows (spec 8.1). It comes from the branch alone; only
// Store is about the project.
type Status struct {
	Files    int            `json:"files"`    // paths with trust
	Modes    map[string]int `json:"modes"`    // read results since the last compaction, by mode
	Unproven int            `json:"unproven"` // read results that nothing vouches for
	Ignored  int            `json:"ignored"`  // claims whose base was not proven
	Saved    int64          `json:"savedBytes"`
	// SavedTokens is SavedBytes/4: an estimate, good to about a third.
	SavedTokens int64        `json:"savedTokens"`
	Scopes      []KnownScope `json:"scopes"`
	Store       *StoreSize   `json:"store,omitempty"`
	StoreError  string       `json:"storeError,omitempty"`
}

// StoreSize is how much the project's store holds.
type StoreSize struct {
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

// KnownScope is one scope that a claim could be based on.
type KnownScope struct {
	Path  string `json:"path"`
	Scope string `json:"scope"`
	Hash  string `json:"hash"`
}

// StatusOf reports on a branch.
func StatusOf(at session.State) Status {
	c := at.Stats
	s := Status{
		Modes: map[string]int{
			"full": c.Full, "baseline_fallback": c.Fallback, "unchanged": c.Unchanged,
			"unchanged_range": c.UnchangedRange, "diff": c.Diff,
		},
		Unproven: c.Unproven, Ignored: c.Ignored, Saved: c.Saved, SavedTokens: c.Saved / 4,
		Scopes: []KnownScope{},
	}
	last := ""
	for _, k := range at.Trust.All() {
		if k.Path != last { // they come by path
			s.Files++
			last = k.Path
		}
		s.Scopes = append(s.Scopes, KnownScope{Path: k.Path, Scope: k.Scope.String(), Hash: k.Hash})
	}
	return s
}

// Status reports on a branch and on the project's store.
func (e *Engine) Status(at session.State) Status {
	s := StatusOf(at)
	stats, err := e.store.Stats()
	if err != nil {
		s.StoreError = err.Error()
		return s
	}
	s.Store = &StoreSize{Objects: stats.Objects, Bytes: stats.Bytes}
	return s
}

// maxScopes bounds the list in the text; the JSON form has them all.
const maxScopes = 20

// Text renders a status for people; paths under dir are shown relative to it.
func (s Status) Text(dir string) string {
	var b strings.Builder
	m := s.Modes
	fmt.Fprintf(&b, "readcache: %s known in this branch, about %d tokens saved (%d bytes / 4)\n", plural(s.Files, "file"), s.SavedTokens, s.Saved)
	fmt.Fprintf(&b, "reads since the last compaction: %d full, %d fallback, %d unchanged, %d unchanged in range, %d diff\n",
		m["full"], m["baseline_fallback"], m["unchanged"], m["unchanged_range"], m["diff"])
	if s.Unproven+s.Ignored > 0 {
		fmt.Fprintf(&b, "not trusted: %d unproven, %d without a base\n", s.Unproven, s.Ignored)
	}
	for i, k := range s.Scopes {
		if i == maxScopes {
			fmt.Fprintf(&b, "  … and %d more\n", len(s.Scopes)-i)
			break
		}
		fmt.Fprintf(&b, "  %s  %s  %.12s\n", relative(dir, k.Path), scopeText(k.Scope), k.Hash)
	}
	switch {
	case s.Store != nil:
		fmt.Fprintf(&b, "store: %s, %d bytes\n", plural(s.Store.Objects, "object"), s.Store.Bytes)
	case s.StoreError != "":
		fmt.Fprintf(&b, "store: %s\n", s.StoreError)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func scopeText(key string) string {
	if rest, ok := strings.CutPrefix(key, "r:"); ok {
		return "lines " + strings.Replace(rest, ":", "-", 1)
	}
	return "whole file"
}

func relative(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && dir != "" && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
