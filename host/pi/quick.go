package pi

import (
	"encoding/json"

	"deja/flatjson"
)

// entriesMethod reads a message of the method "entries" as the extension writes it. A long session
// comes in such messages after each start of the engine, and encoding/json takes four passes over
// them. ok is false for every other message, also for an odd one of this method: the general way
// deals with it. A fuzz target holds that both ways give the same entries.
func entriesMethod(line []byte) (id json.RawMessage, p EntriesParams, ok bool) {
	if !flatjson.Plain(line) {
		return nil, p, false
	}
	var version, method string
	rest, ok := flatjson.Object(line, func(name, at []byte) ([]byte, bool) {
		if string(name) == "params" {
			return p.scan(at)
		}
		v, rest := flatjson.Next(at)
		if v == nil {
			return nil, false
		}
		switch string(name) {
		case "jsonrpc":
			return rest, text(v, &version)
		case "method":
			return rest, text(v, &method) && method == MethodEntries
		case "id":
			id = append(json.RawMessage(nil), v...)
			return rest, validID(id)
		}
		return nil, false
	})
	return id, p, ok && len(rest) == 0 && version == "2.0" && method == MethodEntries && p.Entries != nil && id != nil
}

func (p *EntriesParams) scan(at []byte) (rest []byte, ok bool) {
	return flatjson.Object(at, func(name, at []byte) ([]byte, bool) {
		switch string(name) {
		case "session":
			v, rest := flatjson.Next(at)
			return rest, v != nil && text(v, &p.Session)
		case "entries":
			if p.Entries != nil { // twice: encoding/json merges the two in its own way
				return nil, false
			}
			return p.scanEntries(at)
		}
		return nil, false
	})
}

func (p *EntriesParams) scanEntries(at []byte) (rest []byte, ok bool) {
	p.Entries = make([]Entry, 0, 1+min(len(at)/150, 4096))
	last := ""
	return flatjson.Array(at, func(at []byte) ([]byte, bool) {
		p.Entries = append(p.Entries, Entry{})
		w := &p.Entries[len(p.Entries)-1]
		rest, ok := w.scan(at, last)
		last = w.ID
		return rest, ok
	})
}

// scan reads one entry. last is the id of the entry before it, mostly the parent of this one: its
// string serves for both.
func (w *Entry) scan(at []byte, last string) (rest []byte, ok bool) {
	return flatjson.Scan(at, func(name []byte, v flatjson.Value) bool {
		switch string(name) {
		case "id":
			return text(v, &w.ID)
		case "parentId":
			if s, ok := v.Text(); ok && string(s) == last {
				w.Parent = last
				return true
			}
			return text(v, &w.Parent)
		case "type":
			return text(v, &w.Type)
		case "role":
			return text(v, &w.Role)
		case "calls":
			if w.Calls != nil {
				return false
			}
			w.Calls, ok = scanCalls(v)
			return ok
		case "toolCallId":
			return text(v, &w.CallID)
		case "toolName":
			return text(v, &w.Tool)
		case "isError":
			w.Failed, ok = v.Bool()
			return ok
		case "readcache":
			w.Meta = json.RawMessage(v) // the line is not used again
			return true
		case "digest":
			return text(v, &w.Digest)
		case "customType":
			return text(v, &w.CustomType)
		}
		return false // rare ones, and what an extension of another version may send
	})
}

func scanCalls(list flatjson.Value) (calls []Call, ok bool) {
	calls = []Call{}
	rest, ok := flatjson.Array(list, func(at []byte) ([]byte, bool) {
		var c Call
		rest, ok := flatjson.Scan(at, func(name []byte, v flatjson.Value) bool {
			switch string(name) {
			case "id":
				return text(v, &c.ID)
			case "path":
				return text(v, &c.Path)
			}
			return false
		})
		calls = append(calls, c)
		return rest, ok
	})
	return calls, ok && len(rest) == 0
}

// text copies a string out of a message. The strings that stand in most entries are not copied.
func text(v flatjson.Value, to *string) bool {
	s, ok := v.Text()
	if !ok {
		return false
	}
	switch string(s) {
	case "message":
		*to = "message"
	case "user":
		*to = "user"
	case "assistant":
		*to = "assistant"
	case "toolResult":
		*to = "toolResult"
	case readTool:
		*to = readTool
	default:
		*to = string(s)
	}
	return true
}
