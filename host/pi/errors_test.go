package pi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"deja/session"
)

// What the engine cannot make sense of gets an error and harms nothing else (spec 10.4): after
// each line a ping is answered.
func TestNonsense(t *testing.T) {
	const null = "null"
	for name, tc := range map[string]struct {
		line string
		id   string // "" means that no answer is due
		code int
	}{
		"not JSON":               {`{"jsonrpc":`, null, CodeParse},
		"text":                   {`hello`, null, CodeParse},
		"two values":             {`{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, null, CodeParse},
		"NUL bytes":              {"{\"jsonrpc\":\"2.0\",\x00\"id\":1,\"method\":\"ping\"}", null, CodeParse},
		"raw NUL in a string":    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\x00ng\"}", null, CodeParse},
		"only NUL":               {"\x00\x00\x00", null, CodeParse},
		"deep":                   {strings.Repeat("[", 20000), null, CodeParse},
		"batch":                  {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, null, CodeInvalidRequest},
		"empty batch":            {`[]`, null, CodeInvalidRequest},
		"number":                 {`5`, null, CodeInvalidRequest},
		"null":                   {`null`, null, CodeInvalidRequest},
		"method is a number":     {`{"jsonrpc":"2.0","id":1,"method":5}`, null, CodeInvalidRequest},
		"huge number":            {`{"jsonrpc":"2.0","id":1,"method":` + strings.Repeat("9", 5000) + `}`, null, CodeInvalidRequest},
		"no version":             {`{"id":"x","method":"ping"}`, `"x"`, CodeInvalidRequest},
		"version 1.0":            {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, "7", CodeInvalidRequest},
		"no method":              {`{"jsonrpc":"2.0","id":7}`, "7", CodeInvalidRequest},
		"nothing":                {`{}`, null, CodeInvalidRequest},
		"a response":             {`{"jsonrpc":"2.0","id":7,"result":{}}`, "7", CodeInvalidRequest},
		"id null":                {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, null, CodeInvalidRequest},
		"id is an object":        {`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, null, CodeInvalidRequest},
		"id is true":             {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, null, CodeInvalidRequest},
		"id is long":             {`{"jsonrpc":"2.0","id":"` + strings.Repeat("i", 200) + `","method":"ping"}`, null, CodeInvalidRequest},
		"method is not known":    {`{"jsonrpc":"2.0","id":7,"method":"reed"}`, "7", CodeNoMethod},
		"ready from the host":    {`{"jsonrpc":"2.0","id":7,"method":"ready"}`, "7", CodeNoMethod},
		"no params":              {`{"jsonrpc":"2.0","id":7,"method":"read"}`, "7", CodeInvalidParams},
		"params is a list":       {`{"jsonrpc":"2.0","id":7,"method":"read","params":[]}`, "7", CodeInvalidParams},
		"path is a number":       {`{"jsonrpc":"2.0","id":7,"method":"read","params":{"session":"s","path":5}}`, "7", CodeInvalidParams},
		"entries is a text":      {`{"jsonrpc":"2.0","id":7,"method":"entries","params":{"session":"s","entries":"x"}}`, "7", CodeInvalidParams},
		"no session":             {`{"jsonrpc":"2.0","id":7,"method":"read","params":{}}`, "7", CodeNoSession},
		"params null":            {`{"jsonrpc":"2.0","id":7,"method":"refresh","params":null}`, "7", CodeNoSession},
		"open without id":        {`{"jsonrpc":"2.0","id":7,"method":"open","params":{"cwd":"/","host":{"finalNewline":"separator"}}}`, "7", CodeInvalidParams},
		"open, relative":         {`{"jsonrpc":"2.0","id":7,"method":"open","params":{"session":"s","cwd":"x"}}`, "7", CodeInvalidParams},
		"open, host":             {`{"jsonrpc":"2.0","id":7,"method":"open","params":{"session":"s","cwd":"/"}}`, "7", CodeInvalidParams},
		"unknown notification":   {`{"jsonrpc":"2.0","method":"reed"}`, "", 0},
		"failing notification":   {`{"jsonrpc":"2.0","method":"read","params":{"session":"x"}}`, "", 0},
		"odd notification":       {`{"jsonrpc":"2.0","method":"read","params":5}`, "", 0},
		"ping as a notification": {`{"jsonrpc":"2.0","method":"ping"}`, "", 0},
		"cancel of nothing":      {`{"jsonrpc":"2.0","method":"cancel","params":{"id":99}}`, "", 0},
		"cancel without params":  {`{"jsonrpc":"2.0","method":"cancel"}`, "", 0},
		"empty line":             {"", "", 0},
		"blank line":             {" \t\r", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := converse(t, &Server{}, tc.line+"\n"+`{"jsonrpc":"2.0","id":"after","method":"ping"}`+"\r\n")
			if tc.id != "" {
				if len(got) == 0 || got[0].Error == nil || got[0].Error.Code != tc.code || string(got[0].ID) != tc.id {
					t.Fatalf("got %+v, want code %d for id %s", got, tc.code, tc.id)
				}
				if n := len(got[0].Error.Message); n > 600 {
					t.Errorf("an error message of %d bytes", n)
				}
				got = got[1:]
			}
			if len(got) != 1 || string(got[0].ID) != `"after"` || string(got[0].Result) != "{}" {
				t.Errorf("then got %+v, want the answer to the ping", got)
			}
		})
	}
}

// A line over the limit is skipped without being kept, the next one is answered.
func TestTooLarge(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"method":"ping","params":"` + strings.Repeat("x", 200_000) + `"}`
	short := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	got := converse(t, &Server{MaxMessage: 100_000}, long+"\n"+short+"\n")
	if len(got) != 2 || got[0].Error == nil || got[0].Error.Code != CodeTooLarge || string(got[0].ID) != "null" || string(got[1].ID) != "2" {
		t.Errorf("got %+v, want CodeTooLarge for null and the answer to 2", got)
	}
	// The limit counts the line with its end.
	fits := converse(t, &Server{MaxMessage: len(short) + 1}, short+"\n")
	over := converse(t, &Server{MaxMessage: len(short)}, short+"\n")
	if len(fits) != 1 || fits[0].Error != nil || len(over) != 1 || over[0].Error == nil {
		t.Errorf("at the limit: %+v, beyond it: %+v", fits, over)
	}
}

// The last line may lack its end.
func TestNoFinalNewline(t *testing.T) {
	if got := converse(t, &Server{}, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); len(got) != 1 || got[0].Error != nil {
		t.Errorf("got %+v", got)
	}
}

func TestLeafUnknown(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	for _, leaf := range []string{"x", strings.Repeat("long", 10_000), "nul\x00"} {
		for method, params := range map[string]any{
			MethodRead:   ReadParams{EntriesParams: EntriesParams{Session: "s"}, Leaf: leaf, Path: "poem.txt"},
			MethodStatus: StatusParams{EntriesParams: EntriesParams{Session: "s"}, Leaf: leaf},
		} {
			r := c.try(method, params)
			if r.Error == nil || r.Error.Code != CodeNoLeaf || len(r.Error.Message) > 600 {
				t.Errorf("%s at an unknown leaf: %+v, want CodeNoLeaf and a short message", method, r)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	p := newProject(t)
	c := dial(t, &Server{})
	c.call(MethodOpen, p.open("s"), nil)
	line := func(s string) *string { return &s }
	for name, params := range map[string]RefreshParams{
		"empty line":     {Line: line("  ")},
		"bad range":      {Line: line("poem.txt 3-2")},
		"beyond the end": {Path: "poem.txt", Offset: json.RawMessage("99")},
		"odd offset":     {Path: "poem.txt", Offset: json.RawMessage(`"2"`)},
		"odd limit":      {Path: "poem.txt", Limit: json.RawMessage("0")},
	} {
		params.Session = "s"
		if r := c.try(MethodRefresh, params); r.Error == nil || r.Error.Code != CodeRefused || r.Error.Message == "" {
			t.Errorf("%s: %+v, want CodeRefused", name, r)
		}
	}
}

// spec 5.6: a session that is too long is refused; a second session is not harmed.
func TestFull(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("makes a million entries")
	}
	s := &Server{sessions: map[string]*open{}}
	p := newProject(t)
	for _, id := range []string{"s", "t"} {
		if _, _, err := s.open(p.open(id)); err != nil {
			t.Fatal(err)
		}
	}
	tree := s.sessions["s"].tree
	for i := range session.MaxEntries {
		if err := tree.Add(session.Entry{ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	one := []Entry{{ID: "one more", Type: "message"}}
	_, _, err := s.entries(EntriesParams{Session: "s", Entries: one})
	if e, ok := err.(*Error); !ok || e.Code != CodeFull {
		t.Errorf("got %v, want CodeFull", err)
	}
	if _, _, err := s.entries(EntriesParams{Session: "t", Entries: one}); err != nil {
		t.Errorf("the other session: %v", err)
	}
}
