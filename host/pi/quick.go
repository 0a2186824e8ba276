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
	var params flatjson.Value
	rest, ok := flatjson.Scan(line, func(name []byte, v flatjson.Value) bool {
		switch string(name) {
		case "jsonrpc":
			return text(v, &version)
		case "method":
			return text(v, &method) && method == MethodEntries
		case "id":
			id = append(json.RawMessage(nil), v...)
			return validID(id)
		case "params":
			params = v
			return true
		}
		return false
	})
	if !ok || len(rest) > 0 || version != "2.0" || method != MethodEntries || params == nil || id == nil {
		return nil, p, false
	}
	rest, ok = flatjson.Scan(params, func(name []byte, v flatjson.Value) bool {
		switch string(name) {
		case "session":
			return text(v, &p.Session)
		case "entries":
			if p.Entries != nil { // twice: encoding/json merges the two in its own way
				return false
			}
			p.Entries, ok = scanEntries(v)
			return ok
		}
		return false
	})
	return id, p, ok && len(rest) == 0
}

func scanEntries(list flatjson.Value) ([]Entry, bool) {
	entries := make([]Entry, 0, len(list)/150)
	last := ""
	rest, ok := flatjson.Array(list, func(at []byte) ([]byte, bool) {
		entries = append(entries, Entry{})
		rest, ok := entries[len(entries)-1].scan(at, last)
		last = entries[len(entries)-1].ID
		return rest, ok
	})
	return entries, ok && len(rest) == 0
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
			w.Meta = append(json.RawMessage(nil), v...)
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
