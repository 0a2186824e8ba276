package flatjson

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// members scans an object into what encoding/json would make of it.
func members(text []byte) (map[string]any, bool) {
	if !Plain(text) {
		return nil, false
	}
	got := map[string]any{}
	rest, ok := Scan(text, func(name []byte, v Value) bool {
		var x any
		if err := json.Unmarshal(v, &x); err != nil {
			return false
		}
		if s, ok := v.Text(); ok && string(s) != x.(string) {
			panic("the text of a string is not what it means")
		}
		if n, ok := v.Int(); ok && float64(n) != x {
			panic("the value of a number is not what it means")
		}
		if b, ok := v.Bool(); ok && b != x {
			panic("the value of a literal is not what it means")
		}
		got[string(name)] = x
		return true
	})
	return got, ok && len(rest) == 0
}

func TestScan(t *testing.T) {
	for text, want := range map[string]map[string]any{
		`{}`:                              {},
		`{"a":"b"}`:                       {"a": "b"},
		`{"a":-12,"b":true,"c":null}`:     {"a": -12.0, "b": true, "c": nil},
		`{"a":1,"a":2}`:                   {"a": 2.0},
		`{"é":"日本"}`:                      {"é": "日本"},
		`{"a":{"b":[1,{"c":"}"}]},"d":0}`: {"a": map[string]any{"b": []any{1.0, map[string]any{"c": "}"}}}, "d": 0.0},
		`{"a":[],"b":{}}`:                 {"a": []any{}, "b": map[string]any{}},
	} {
		got, ok := members([]byte(text))
		if !ok || !cmp.Equal(got, want) {
			t.Errorf("%s: got %v, %v", text, got, ok)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, text := range []string{
		``, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `[]`, `{"a":01}`, `{"a":-}`, `{"a":1.5}`, `{"a":1e3}`,
		`{"a":tru}`, `{"a":truex}`, `{"a":[1,]}`, `{"a":[1}`, `{"a":[}`, `{ "a":1}`, `{"a": 1}`, `{"a":"\n"}`, "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}", `{"a":1}x`, `{"a":1}}`,
		`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`,
		strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000),
	} {
		if got, ok := members([]byte(text)); ok {
			t.Errorf("%.60q is read as %v", text, got)
		}
	}
	if _, ok := Scan([]byte(`{"a":1}`), func([]byte, Value) bool { return false }); ok {
		t.Error("a refused member is accepted")
	}
}

func TestArray(t *testing.T) {
	var got []string
	rest, ok := Array([]byte(`[{"id":"a"},{"id":"b"}]!`), func(at []byte) ([]byte, bool) {
		return Scan(at, func(_ []byte, v Value) bool {
			s, ok := v.Text()
			got = append(got, string(s))
			return ok
		})
	})
	if !ok || string(rest) != "!" || !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q, rest %q, %v", got, rest, ok)
	}
}

// FuzzScan holds that whatever is accepted means the same to encoding/json.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":"b","c":[1,{"d":null}],"e":-1}`, `{"a":1,"a":2}`, `{}`, `{"a":"\u0041"}`, `{"é":0}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := members(text)
		if !ok {
			return
		}
		var want map[string]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q is accepted, but: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
	})
}
