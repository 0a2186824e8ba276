package readcache

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"deja/textfile"
	"deja/trust"
)

// Refresh makes the entry that forces the next read of these lines to be served in full
// (spec 4.4), and a line that tells the user or the model so. The file need not exist.
func (e *Engine) Refresh(ctx context.Context, req Request, now time.Time) (Invalidate, string, error) {
	if req.Odd || below1(req.Offset) || below1(req.Limit) {
		return Invalidate{}, "", fmt.Errorf("refresh %q: offset and limit are whole numbers from 1 on", req.Path)
	}
	target, err := textfile.ParseTarget(req.Path, req.Offset, req.Limit, e.cwd, e.home, e.dialect)
	if err != nil {
		return Invalidate{}, "", err
	}
	scope, err := e.refreshScope(ctx, target)
	if err != nil {
		return Invalidate{}, "", err
	}
	lines := ""
	if !scope.Whole() {
		lines = fmt.Sprintf(" lines %d-%d", scope.Start, scope.End)
	}
	text := fmt.Sprintf("[readcache: the next read of %s%s is served in full]", target.Arg, lines)
	return Invalidate{V: MetaVersion, Kind: "invalidate", PathKey: filepath.Clean(target.Path), ScopeKey: scope.String(), At: now.UnixMilli()}, text, nil
}

// farLine stands for the end of a file whose length is not known.
const farLine = 1<<31 - 1

func (e *Engine) refreshScope(ctx context.Context, t textfile.Target) (trust.Scope, error) {
	if t.Offset == nil && t.Limit == nil {
		return trust.Full, nil
	}
	total := farLine
	if snap, err := textfile.Load(ctx, t.Path, e.config.MaxFileBytes); err == nil {
		total = snap.Total()
	}
	start, end := 1, total
	if t.Offset != nil {
		start = *t.Offset
	}
	if start > total {
		return trust.Scope{}, fmt.Errorf("refresh %s: line %d is beyond the end of the file (%d lines)", t.Arg, start, total)
	}
	if t.Limit != nil && *t.Limit < total-start+1 {
		end = start + *t.Limit - 1
	}
	if start == 1 && end == total {
		return trust.Full, nil
	}
	return trust.Lines(start, end), nil
}

var trailingRange = regexp.MustCompile(`^(.*\S)\s+(\d{1,9})-(\d{1,9})$`)

// ParseRefresh reads the argument line of the refresh command: <path> [start-end]. The path may be
// in double quotes.
func ParseRefresh(line string) (Request, error) {
	line = strings.TrimSpace(line)
	req := Request{Path: line}
	if m := trailingRange.FindStringSubmatch(line); m != nil {
		start, _ := strconv.Atoi(m[2]) // nine digits fit
		end, _ := strconv.Atoi(m[3])
		if start < 1 || end < start {
			return Request{}, fmt.Errorf("lines %s-%s: want <path> [start-end] with 1 <= start <= end, for example: src/main.go 10-20", m[2], m[3])
		}
		limit := end - start + 1
		req = Request{Path: m[1], Offset: &start, Limit: &limit}
	}
	if n := len(req.Path); n >= 2 && req.Path[0] == '"' && req.Path[n-1] == '"' {
		req.Path = req.Path[1 : n-1]
	}
	if req.Path == "" {
		return Request{}, fmt.Errorf("which file? Want <path> [start-end], for example: src/main.go 10-20")
	}
	return req, nil
}
