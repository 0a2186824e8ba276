package pi

import (
	"strings"

	"deja/readcache"
	"deja/session"
	"deja/textfile"
)

// readTool is the tool whose results are looked at.
const readTool = "read"

// replayed turns an entry into what it means for replay. paths gives the keys that a path, as the
// model wrote it, may resolve to.
func (w Entry) replayed(paths func(raw string) []string) session.Entry {
	e := session.Entry{ID: w.ID, Parent: w.Parent}
	switch w.Type {
	case "compaction":
		e.Kind = session.Compaction
	case "context_edit":
		e.Kind, e.Target, e.Omit = session.Edit, w.Target, w.Omit
	case "custom":
		if w.CustomType != readcache.InvalidateType {
			break
		}
		if path, scope, err := readcache.ParseInvalidate(w.Data); err == nil {
			e.Kind, e.Path, e.Scope = session.Invalidation, path, scope
		}
	case "message":
		w.message(&e, paths)
	}
	return e
}

func (w Entry) message(e *session.Entry, paths func(string) []string) {
	switch w.Role {
	case "user":
		e.Kind = session.User
	case "assistant":
		if len(w.Calls) == 0 {
			break
		}
		e.Kind = session.Assistant
		for _, c := range w.Calls {
			e.Calls = append(e.Calls, session.Call{ID: c.ID, Paths: paths(c.Path)})
		}
	case "toolResult":
		e.Kind, e.CallID, e.Failed, e.IsRead = session.Result, w.CallID, w.Failed, w.Tool == readTool
		if !e.IsRead || e.Failed {
			break
		}
		stored := readcache.Stored{Digest: w.Digest}
		if w.Cut != nil {
			stored.Cut, stored.CutLines = true, *w.Cut
		}
		read, saved, path := readcache.Evidence(w.Meta, stored)
		e.Read, e.Saved = read, saved
		if read == nil && path != "" {
			e.Paths = []string{path}
		}
	}
}

// pathKeys returns the function that replayed needs. It leans to the side of too many keys: a key
// too many costs a plain read, a key too few could leave a stale view trusted.
func pathKeys(cwd, home string, d textfile.Dialect) func(string) []string {
	return func(raw string) []string {
		keys := []string{textfile.Lexical(raw, cwd, home, d)}
		if i := strings.LastIndexByte(raw, ':'); i > 0 {
			keys = append(keys, textfile.Lexical(raw[:i], cwd, home, d))
		}
		return keys
	}
}
