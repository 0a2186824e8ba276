package pi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deja/readcache"
)

// general reads a message of the method "entries" as every other one is read.
func general(line []byte) (id json.RawMessage, p EntriesParams, ok bool) {
	var m message
	if json.Unmarshal(line, &m) != nil || m.Version != "2.0" || m.Method != MethodEntries || m.ID == nil || !validID(m.ID) {
		return nil, p, false
	}
	return m.ID, p, json.Unmarshal(m.Params, &p) == nil
}

const usual = `{"jsonrpc":"2.0","id":7,"method":"entries","params":{"session":"s","entries":[` +
	`{"id":"a","type":"message","role":"user"},` +
	`{"id":"b","type":"message","parentId":"a","role":"assistant","calls":[{"id":"c1","path":"x.go"},{"id":"c2","path":"é.go"}]},` +
	`{"id":"c","type":"message","parentId":"b","role":"toolResult","toolCallId":"c1","toolName":"read","readcache":{"v":1,"mode":"full"},"digest":"00"},` +
	`{"id":"d","type":"message","parentId":"c","role":"toolResult","toolCallId":"c2","toolName":"read","isError":true},` +
	`{"id":"e","type":"custom","parentId":"d","customType":"other"}]}}`

// spec 10.4: the quick way is another way to the same entries.
func TestQuickIsGeneral(t *testing.T) {
	id, p, ok := entriesMethod([]byte(usual))
	id2, p2, ok2 := general([]byte(usual))
	if !ok || !ok2 || string(id) != string(id2) {
		t.Fatalf("quick %v, general %v, ids %s and %s", ok, ok2, id, id2)
	}
	if diff := cmp.Diff(p2, p); diff != "" {
		t.Error(diff)
	}
	for _, other := range []string{
		strings.Replace(usual, `"entries","params"`, `"read","params"`, 1),
		strings.Replace(usual, `"id":7,`, ``, 1),
		strings.Replace(usual, `"2.0"`, `"1.0"`, 1),
		strings.Replace(usual, `"é.go"`, `"\u00e9.go"`, 1),
		strings.Replace(usual, `"customType":"other"`, `"targetId":"a"`, 1),
		usual + "}",
	} {
		if _, _, ok := entriesMethod([]byte(other)); ok {
			t.Errorf("taken the quick way: %s", other)
		}
	}
}

func FuzzQuickEntries(f *testing.F) {
	f.Add([]byte(usual))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"x","method":"entries","params":{"session":"","entries":[]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		id, p, ok := entriesMethod(line)
		if !ok {
			return
		}
		id2, p2, ok2 := general(line)
		if !ok2 || string(id) != string(id2) {
			t.Fatalf("the general way does not read %q: %v, ids %s and %s", line, ok2, id, id2)
		}
		if diff := cmp.Diff(p2, p); diff != "" {
			t.Fatalf("%q: %s", line, diff)
		}
	})
}

// FuzzQuickMeta holds the same for the metadata of a result: with a space before it, it is read by
// encoding/json.
func FuzzQuickMeta(f *testing.F) {
	f.Add([]byte(`{"v":1,"pathKey":"/a","scopeKey":"r:1:5","servedHash":"` + strings.Repeat("0", 64) + `","mode":"full","totalLines":9,"rangeStart":1,"rangeEnd":5,"bytes":9}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := readcache.ParseMeta(raw)
		m2, err2 := readcache.ParseMeta(append([]byte(" "), raw...))
		if (err == nil) != (err2 == nil) || (err == nil && m != m2) {
			t.Fatalf("%q: %v %v, with a space %v %v", raw, m, err, m2, err2)
		}
	})
}
