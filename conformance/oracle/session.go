package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Session reads a session file of pi (format v1 to v3) and builds the request that pi would send at
// this leaf, by pi's own rules: the branch of the leaf; of it, the latest compaction and what it
// kept and what followed; context edits; no assistant message that failed or was aborted. An empty
// leaf is the last entry. Lines that are no JSON objects are passed over. It is an error if the
// leaf is not there, or there is no entry.
func Session(jsonl io.Reader, leaf string) (Request, error) {
	f, err := readSession(jsonl)
	if err != nil {
		return Request{}, err
	}
	if leaf == "" {
		leaf = f.entries[len(f.entries)-1].ID
	}
	path, err := f.branch(leaf)
	if err != nil {
		return Request{}, err
	}
	r := Request{Dir: f.dir}
	context := inContext(path)
	edits := map[string]*entry{}
	for _, e := range context {
		if e.Type == "context_edit" {
			edits[e.TargetID] = e
		}
	}
	for _, e := range context {
		m := e.Message
		if edit := edits[e.ID]; edit != nil {
			if string(edit.Replacement) == "null" {
				continue
			}
			m.Content = object(edit.Replacement)["content"]
		}
		if e.Type == "message" {
			r.message(m)
		}
	}
	return r, nil
}

// message adds the calls or the result of one message of pi.
func (r *Request) message(m message) {
	switch m.Role {
	case "assistant":
		if m.StopReason == "error" || m.StopReason == "aborted" {
			return
		}
		for _, b := range items(m.Content) {
			if block := object(b); str(block, "type") == "toolCall" {
				r.call(newCall(str(block, "id"), str(block, "name"), block["arguments"]))
			}
		}
	case "toolResult":
		res := Result{ID: m.ToolCallID, Tool: m.ToolName, Error: m.IsError}
		res.Text, res.Odd = content(m.Content)
		r.result(res)
	}
}

// An entry has what is looked at of an entry of a session.
type entry struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	ParentID    string          `json:"parentId"`
	Version     int             `json:"version"`
	Cwd         string          `json:"cwd"`
	FirstKept   string          `json:"firstKeptEntryId"`
	FirstIndex  *int            `json:"firstKeptEntryIndex"` // v1
	TargetID    string          `json:"targetId"`
	Replacement json.RawMessage `json:"replacement"`
	Message     message         `json:"message"`
}

type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stopReason"`
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	IsError    bool            `json:"isError"`
}

type sessionFile struct {
	dir     string
	entries []*entry // without the header
	byID    map[string]*entry
}

func readSession(jsonl io.Reader) (*sessionFile, error) {
	f := &sessionFile{byID: map[string]*entry{}}
	in := bufio.NewReader(jsonl)
	var all []*entry
	version := 0
	for done := false; !done; {
		line, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			done = true
		case err != nil:
			return nil, fmt.Errorf("session: %w", err)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
			continue
		}
		e := &entry{}
		if err := json.Unmarshal(line, e); err != nil {
			// A member of another kind than expected; the others are there. No JSON, no entry.
			var wrong *json.UnmarshalTypeError
			if !errors.As(err, &wrong) {
				continue
			}
		}
		all = append(all, e)
		if e.Type == "session" {
			f.dir, version = e.Cwd, max(version, e.Version, 1)
			continue
		}
		f.entries = append(f.entries, e)
	}
	if len(f.entries) == 0 {
		return nil, errors.New("session: no entries")
	}
	if version == 1 || !slices.ContainsFunc(f.entries, func(e *entry) bool { return e.ID != "" }) {
		link(all)
	}
	for _, e := range f.entries {
		f.byID[e.ID] = e // as in pi, the last one counts
	}
	return f, nil
}

// link makes a list of entries without ids, as format v1 has it, a branch.
func link(all []*entry) {
	parent := ""
	for i, e := range all {
		if e.Type == "session" {
			continue
		}
		e.ID, e.ParentID = "#"+strconv.Itoa(i), parent
		parent = e.ID
	}
	for _, e := range all {
		if i := e.FirstIndex; i != nil && *i >= 0 && *i < len(all) {
			e.FirstKept = all[*i].ID
		}
	}
}

// branch is the path from the root to the leaf. A parent that is missing, or that was passed
// already, ends it.
func (f *sessionFile) branch(leaf string) ([]*entry, error) {
	if f.byID[leaf] == nil {
		return nil, fmt.Errorf("session: no entry %q", leaf)
	}
	var path []*entry
	seen := map[*entry]bool{}
	for e := f.byID[leaf]; e != nil && !seen[e]; {
		seen[e] = true
		path = append(path, e)
		if e.ParentID == "" {
			break
		}
		e = f.byID[e.ParentID]
	}
	slices.Reverse(path)
	return path, nil
}

// inContext drops what the latest compaction of the branch has summarised.
func inContext(path []*entry) []*entry {
	at := -1
	for i, e := range path {
		if e.Type == "compaction" {
			at = i
		}
	}
	if at < 0 {
		return path
	}
	kept := at
	for i, e := range path[:at] {
		if e.ID == path[at].FirstKept {
			kept = i
			break
		}
	}
	return append(path[kept:at:at], path[at+1:]...)
}
