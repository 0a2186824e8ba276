package readcache

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"deja/trust"
)

const (
	h1 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	h2 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// fields is metadata that is good, as JSON; change replaces or removes (nil) some of it.
func fields(change map[string]any) []byte {
	m := map[string]any{
		"v": 1, "pathKey": "/a", "scopeKey": "full", "servedHash": h1, "baseHash": h2, "mode": "diff",
		"totalLines": 10, "rangeStart": 1, "rangeEnd": 10, "bytes": 100, "digest": h2[:32], "saved": 5,
	}
	for k, v := range change {
		if m[k] = v; v == nil {
			delete(m, k)
		}
	}
	raw, _ := json.Marshal(m)
	return raw
}

type some = map[string]any

// spec 3.1, spec 3.4: what is metadata, and what is ignored.
func TestParseMeta(t *testing.T) {
	good := []some{
		{},
		{"digest": nil, "saved": nil},
		{"mode": "full", "baseHash": nil},
		{"mode": "full"},
		{"mode": "baseline_fallback"},
		{"mode": "baseline_fallback", "baseHash": nil},
		{"mode": "unchanged"},
		{"mode": "unchanged_range", "scopeKey": "r:2:5", "rangeStart": 2, "rangeEnd": 5},
		{"mode": "full", "scopeKey": "r:1:10"},
		{"bytes": 0, "totalLines": 1, "rangeEnd": 1},
		{"unknown": some{"a": 1}},
	}
	for _, c := range good {
		if m, err := ParseMeta(fields(c)); err != nil || m.PathKey != "/a" {
			t.Errorf("%v: %v", c, err)
		}
	}
	bad := []some{
		{"v": nil},
		{"v": 0},
		{"v": 2},
		{"v": "1"},
		{"v": 1.5},
		{"pathKey": nil},
		{"pathKey": ""},
		{"pathKey": 1},
		{"scopeKey": nil},
		{"scopeKey": "all"},
		{"scopeKey": "r:0:1"},
		{"scopeKey": "r:5:2"},
		{"scopeKey": "r:01:2"},
		{"servedHash": nil},
		{"servedHash": ""},
		{"servedHash": h1[1:]},
		{"servedHash": h1 + "a"},
		{"servedHash": strings.ToUpper(h1)},
		{"servedHash": strings.Repeat("g", 64)},
		{"servedHash": strings.Repeat("é", 32)},
		{"baseHash": "short"},
		{"baseHash": strings.ToUpper(h1)},
		{"mode": "full", "baseHash": "x"},
		{"mode": "diff", "baseHash": nil},
		{"mode": "unchanged", "baseHash": nil},
		{"mode": "unchanged_range", "baseHash": ""},
		{"mode": nil},
		{"mode": ""},
		{"mode": "Full"},
		{"mode": "partial"},
		{"mode": 1},
		{"totalLines": nil},
		{"totalLines": 0},
		{"totalLines": -1},
		{"totalLines": 9},
		{"totalLines": "10"},
		{"totalLines": 10.5},
		{"rangeStart": nil},
		{"rangeStart": 0},
		{"rangeStart": -1},
		{"rangeStart": 11},
		{"rangeStart": 2},
		{"rangeEnd": nil},
		{"rangeEnd": 0},
		{"rangeEnd": 11},
		{"scopeKey": "r:2:5"},
		{"scopeKey": "r:2:5", "rangeStart": 2},
		{"scopeKey": "r:2:5", "rangeEnd": 5},
		{"scopeKey": "r:1:11", "rangeEnd": 11},
		{"bytes": -1},
		{"bytes": "100"},
		{"digest": "abc"},
		{"digest": h2},
		{"digest": strings.Repeat("G", 32)},
		{"digest": strings.ToUpper(h2[:32])},
		{"digest": 5},
		{"saved": "5"},
		{"saved": 1.5},
		{"pathKey": strings.Repeat("x", 16<<10)},
	}
	for _, c := range bad {
		if m, err := ParseMeta(fields(c)); err == nil {
			t.Errorf("%v is taken as %+v", c, m)
		}
	}
	for _, raw := range []string{"", "null", "0", `"full"`, "[]", "{}", "{", "{}{}", string(fields(nil)) + "x", "\xff"} {
		if m, err := ParseMeta([]byte(raw)); err == nil {
			t.Errorf("%q is taken as %+v", raw, m)
		}
	}
}

// spec 3.4: "full" for a part of the lines contradicts itself.
func TestSpec34FullScopeThatEndsBeforeTheEndIsIgnored(t *testing.T) {
	if m, err := ParseMeta(fields(some{"mode": "full", "rangeEnd": 5})); err == nil {
		t.Errorf("lines 1-5 of 10 are taken as full: %+v", m)
	}
}

// spec 3.1: what is written is read again.
func TestMetaRoundTrip(t *testing.T) {
	want := Meta{
		V: 1, PathKey: "/ü \"x\"", ScopeKey: "r:2:3", ServedHash: h1, BaseHash: h2, Mode: trust.ModeUnchangedRange,
		TotalLines: 9, RangeStart: 2, RangeEnd: 3, Bytes: 4, Digest: h1[:32], Saved: 12,
	}
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseMeta(raw); err != nil || got != want {
		t.Errorf("%s: %+v %v", raw, got, err)
	}
	raw, _ = json.Marshal(Meta{})
	for _, key := range []string{"baseHash", "digest", "saved"} {
		if strings.Contains(string(raw), key) {
			t.Errorf("%s has an empty %s", raw, key)
		}
	}
}

// spec 4.4: which entries are a refresh. A strange time is no reason to ignore what a user asked for.
func TestParseInvalidate(t *testing.T) {
	entry := func(change some) string {
		m := some{"v": 1, "kind": "invalidate", "pathKey": "/a", "scopeKey": "r:2:3", "at": 5}
		for k, v := range change {
			if m[k] = v; v == nil {
				delete(m, k)
			}
		}
		raw, _ := json.Marshal(m)
		return string(raw)
	}
	for _, c := range []some{{}, {"at": nil}, {"at": "yesterday"}, {"at": -1}, {"at": 1.5}, {"more": true}} {
		path, scope, err := ParseInvalidate([]byte(entry(c)))
		if err != nil || path != "/a" || scope != trust.Lines(2, 3) {
			t.Errorf("%v: %s %s %v", c, path, scope, err)
		}
	}
	if _, scope, err := ParseInvalidate([]byte(entry(some{"scopeKey": "full"}))); err != nil || !scope.Whole() {
		t.Errorf("full: %s %v", scope, err)
	}
	for _, c := range []some{
		{"v": nil},
		{"v": 2},
		{"v": "1"},
		{"kind": nil},
		{"kind": "other"},
		{"pathKey": nil},
		{"pathKey": ""},
		{"pathKey": 3},
		{"scopeKey": nil},
		{"scopeKey": "r:3:2"},
		{"scopeKey": "all"},
		{"pathKey": strings.Repeat("x", 16<<10)},
	} {
		if path, scope, err := ParseInvalidate([]byte(entry(c))); err == nil || path != "" {
			t.Errorf("%v: %s %s %v", c, path, scope, err)
		}
	}
	for _, raw := range []string{"", "null", "[]", "1", "{}", "{"} {
		if path, _, err := ParseInvalidate([]byte(raw)); err == nil || path != "" {
			t.Errorf("%q is a refresh of %q", raw, path)
		}
	}
}

// spec 3.4: nothing that comes in a session makes ParseMeta panic, and what it takes is in order.
func FuzzParseMeta(f *testing.F) {
	f.Add(fields(nil))
	f.Add(fields(some{"mode": "full", "scopeKey": "r:1:10"}))
	f.Add([]byte(`{"v":1,"pathKey":"\u0000"}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := ParseMeta(raw)
		if err != nil {
			return
		}
		scope, err := trust.ParseScope(m.ScopeKey)
		lo, hi := scope.Start, scope.End
		if scope.Whole() {
			lo, hi = 1, m.RangeEnd
		}
		if err != nil || lo != m.RangeStart || hi != m.RangeEnd || hi > m.TotalLines || len(m.ServedHash) != 64 || m.V != 1 || m.PathKey == "" {
			t.Fatalf("%q is taken as %+v", raw, m)
		}
		again, _ := json.Marshal(m)
		if got, err := ParseMeta(again); len(again) <= maxMetaBytes && (err != nil || got != m) {
			t.Fatalf("%s is not read as it was written: %v", again, err)
		}
	})
}

// spec 3.4, spec 4.4
func FuzzParseInvalidate(f *testing.F) {
	f.Add([]byte(`{"v":1,"kind":"invalidate","pathKey":"/a","scopeKey":"full","at":1}`))
	f.Add([]byte(`{"v":1,"kind":"invalidate","pathKey":"/a","scopeKey":"r:1:2","at":{}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path, scope, err := ParseInvalidate(raw)
		if (err == nil) != (path != "") {
			t.Fatalf("path %q, error %v", path, err)
		}
		if _, bad := trust.ParseScope(scope.String()); err == nil && bad != nil {
			t.Fatalf("scope %v", scope)
		}
	})
}

// spec 3.4, spec 3.6: no garbage is proof. Whatever the metadata is, a text that is neither the
// digested one nor a marker nor the file itself proves no more than lines that are compared later.
func FuzzEvidence(f *testing.F) {
	f.Add(fields(nil), "text", false, 0)
	f.Add(fields(some{"digest": nil, "mode": "full"}), "text", true, 3)
	f.Add(fields(some{"digest": nil, "mode": "unchanged"}), "[readcache: unchanged, 10 lines]", false, 0)
	f.Add(fields(some{"digest": Digest("text")[:32]}), "text", false, -1)
	f.Add([]byte(`{"pathKey":"/b","v":9}`), "", true, 1<<40)
	f.Fuzz(func(t *testing.T, raw []byte, text string, cut bool, lines int) {
		read, saved, _ := Evidence(raw, Stored{Digest: Digest(text), Cut: cut, CutLines: lines})
		if none, _, _ := Evidence(raw, Stored{Cut: cut, CutLines: lines}); none != nil {
			t.Fatalf("%q without a text proves %+v", raw, none)
		}
		if saved < 0 || saved > 1<<30 || read == nil && saved != 0 {
			t.Fatalf("saved %d", saved)
		}
		if read == nil {
			return
		}
		m, err := ParseMeta(raw)
		byDigest := m.Digest != "" && strings.HasPrefix(Digest(text), m.Digest)
		byMarker := m.Digest == "" && read.Mode.Claim() && strings.HasPrefix(text, "[readcache: unchanged")
		byHash := m.Digest == "" && read.Mode.Anchor() && Digest(text) == m.ServedHash
		later := m.Digest == "" && read.Mode.Anchor() && !read.Scope.Whole() && read.Text == Digest(text)
		if err != nil || !(byDigest || byMarker || byHash || later) {
			t.Fatalf("%q with text %q proves %+v", raw, text, read)
		}
		if read.Path != m.PathKey || read.Served != m.ServedHash || read.Base != m.BaseHash || fmt.Sprint(read.Mode) != string(m.Mode) {
			t.Fatalf("%+v is not what %+v says", read, m)
		}
		if !read.Scope.Whole() && (read.Scope.Start < m.RangeStart || read.Scope.End > m.RangeEnd || read.Scope.End < read.Scope.Start) {
			t.Fatalf("scope %s of lines %d-%d", read.Scope, m.RangeStart, m.RangeEnd)
		}
	})
}
