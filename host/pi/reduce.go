package pi

import (
	"bytes"
	"encoding/json"
	"strconv"

	"deja/readcache"
)

// record is a JSON object as the extension sees it: names are exact, the last of equal ones
// counts, and a value of a type that is not expected counts as absent. A struct would match names
// in any case of letters and give up a line for one odd field.
type record map[string]json.RawMessage

// recordOf returns nil for what is no object.
func recordOf(raw json.RawMessage) record {
	var o record
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func (o record) text(name string) string {
	var s string
	if raw := o[name]; len(raw) > 0 && raw[0] == '"' {
		_ = json.Unmarshal(raw, &s) // a valid string: it is part of a valid record
	}
	return s
}

func (o record) yes(name string) bool { return string(o[name]) == "true" }

// whole returns a positive whole number, or 0.
func (o record) whole(name string) int {
	v, err := strconv.ParseFloat(string(o[name]), 64)
	if err != nil || v < 1 || v >= 1<<53 || v != float64(int64(v)) {
		return 0
	}
	return int(v)
}

// list returns the objects of an array; what is no object is an empty one.
func (o record) list(name string) []record {
	var items []json.RawMessage
	if raw := o[name]; len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return nil
	}
	objects := make([]record, len(items))
	for i, raw := range items {
		objects[i] = recordOf(raw)
	}
	return objects
}

// reduce does for a line of a session file what the extension does for an entry in memory
// (reduce in integrations/pi/src/entries.ts; docs/protocol.md, "Entries"). A test compares them.
func (o record) reduce() Entry {
	w := Entry{ID: o.text("id"), Parent: o.text("parentId"), Type: o.text("type")}
	switch w.Type {
	case "custom":
		w.CustomType = o.text("customType")
		if w.CustomType == readcache.InvalidateType {
			w.Data = o["data"]
		}
	case "context_edit":
		w.Target, w.Omit = o.text("targetId"), isNull(o["replacement"])
	case "message":
		recordOf(o["message"]).reduceMessage(&w)
	}
	return w
}

func (o record) reduceMessage(w *Entry) {
	w.Role = o.text("role")
	switch w.Role {
	case "assistant":
		w.Calls = o.readCalls()
	case "toolResult":
		w.CallID, w.Tool, w.Failed = o.text("toolCallId"), o.text("toolName"), o.yes("isError")
		if w.Tool != readTool {
			return
		}
		details := recordOf(o["details"])
		w.Meta, w.Digest = details["readcache"], o.digest()
		if cut := recordOf(details["truncation"]); cut.yes("truncated") {
			lines := cut.whole("outputLines")
			w.Cut = &lines
		}
	}
}

func (o record) readCalls() []Call {
	var calls []Call
	for _, b := range o.list("content") {
		if b.text("type") == "toolCall" && b.text("name") == readTool {
			calls = append(calls, Call{ID: b.text("id"), Path: recordOf(b["arguments"]).spelled("path")})
		}
	}
	return calls
}

// spelled is a text, or a number or truth value as JavaScript writes it: pi makes texts of those
// before its tools see them.
func (o record) spelled(name string) string {
	raw := o[name]
	if isNull(raw) || raw[0] == '{' || raw[0] == '[' {
		return ""
	}
	if raw[0] == '"' {
		return o.text(name)
	}
	var n float64
	if json.Unmarshal(raw, &n) == nil {
		if n == 0 {
			n = 0 // JavaScript writes -0 as 0
		}
		raw, _ = json.Marshal(n) // as JavaScript does, otherwise; finite
	}
	return string(raw)
}

// digest returns the SHA-256 of a content that is exactly one text block, else "".
func (o record) digest() string {
	blocks := o.list("content")
	if len(blocks) != 1 || blocks[0].text("type") != "text" || !bytes.HasPrefix(blocks[0]["text"], []byte{'"'}) {
		return ""
	}
	return readcache.Digest(blocks[0].text("text"))
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(bytes.TrimSpace(raw)) == "null"
}
