// Package oracle is the judge of truth: it tells of each claim of a read cache in one request
// whether the model has the text that the claim stands for.
//
// It takes the messages of a request, and for each read the bytes that the file had on disk when
// that read was answered. From the messages alone it rebuilds what the model can know of each file,
// line by line: what it saw last of a line is what it believes. A claim is proven if that belief is
// the file, to the byte; then "the exact current lines can be rebuilt from the other messages of
// the request" holds (spec 1.1).
//
// It knows the tool read of pi, the notices of pi's plain read and the texts of claims (spec 7). It
// shares no code with the engine, does not look at the metadata of results, and knows nothing of
// scopes, trust, replay or how a claim came about: an error there cannot hide here. It does not
// judge whether a claim was useful, and a text that it cannot place teaches it nothing.
package oracle

import "fmt"

// A Request is what the model is sent, reduced to the calls of tools and their results, in order.
// The parsers make one; a walker over a model of a host may make it by hand.
type Request struct {
	// Dir is the folder that relative paths start at; "" if not known. It only serves to see that
	// two spellings mean one file where Contents does not say so.
	Dir string
	// Steps are the calls and results in the order of the messages.
	Steps []Step
}

// A Step is a call or a result; one of the two is not nil.
type Step struct {
	Call   *Call
	Result *Result
}

// A Call is a tool call of the model.
type Call struct {
	ID, Tool string
	// Path, Offset and Limit are the arguments of a read; nil stands for absent.
	Path          string
	Offset, Limit *int
	// Odd says that the arguments are none that a read can have; nothing is judged by them.
	Odd bool
}

// A Result is what the model was shown for a call.
type Result struct {
	// ID is that of the call; "" if the message names none.
	ID string
	// Tool is the tool's name if the result names it, else "".
	Tool string
	Text string
	// Error says that the result is marked as an error. OpenAI bodies have no such mark.
	Error bool
	// Odd says that the result is not one single text (an image, several parts, damaged).
	Odd bool
}

// A File is a file as it was when one read was answered.
type File struct {
	// Path is the absolute path that was opened: what makes two reads reads of one file. Empty
	// means not known; then the path is taken as it was written, below Dir. A Contents gives it
	// for all reads of a file or for none.
	Path string
	// Bytes are the file's content.
	Bytes []byte
	// Failed says that the read was answered with an error, for bodies that do not mark errors.
	// Then nothing was shown. A claim is judged all the same.
	Failed bool

	part *memory // what is known of the content, if it is not all (Rebuilt)
}

// Contents gives the file as it was when the call's read was answered; path is as the model wrote
// it. It reports false if that is not known: texts are then believed as they are, and a claim that
// is not false for any content is Unknown.
type Contents func(callID, path string) (File, bool)

// Kind is the form of a claim (spec 7).
type Kind int

// The forms, and what looks like one and is none.
const (
	Unchanged      Kind = iota // unchanged, N lines
	UnchangedLines             // unchanged in lines a-b of N
	Elsewhere                  // unchanged in lines a-b; changes exist outside this range
	Diff                       // N lines changed of M, and the diff
	Malformed                  // begins like a claim, and has none of the exact forms
)

var kinds = []string{"unchanged", "unchanged_lines", "elsewhere", "diff", "malformed"}

// String is the form's name, as it is in JSON.
func (k Kind) String() string { return kinds[k] }

// MarshalText writes String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// State is what a claim is found to be. The zero value is the one to assume in doubt.
type State int

const (
	// False: the model would believe something that is not in the file, or has never seen it, or
	// the claim cannot be judged.
	False State = iota
	// Proven: the model has the text.
	Proven
	// Unknown: the model has a text for all the claim's lines, but the file's content at that
	// read is not known. It does not occur if Contents knows every read.
	Unknown
)

var states = []string{"false", "proven", "unknown"}

// String is "false", "proven" or "unknown", as in JSON.
func (s State) String() string { return states[s] }

// MarshalText writes String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Verdict is the judgement of one claim.
type Verdict struct {
	CallID string `json:"call"`
	// Path is the file's key: its resolved path if known.
	Path string `json:"path"`
	// Claim is the text that the model was shown.
	Claim string `json:"claim"`
	Kind  Kind   `json:"kind"`
	State State  `json:"state"`
	// Start and End are the lines claimed, 1-based and inclusive; 0 and 0 if the text does not
	// say, as in a malformed one.
	Start int `json:"start"`
	End   int `json:"end"`
	// Line is the first line of which the model would believe something false; 0 if none can be
	// named.
	Line int `json:"line,omitempty"`
	// Reason says in words why the claim is not proven; "" if it is.
	Reason string `json:"reason,omitempty"`
}

// String is one line for a person.
func (v Verdict) String() string {
	text, _, _ := cutLine(v.Claim)
	s := fmt.Sprintf("%s %s %s: %s", v.State, v.CallID, v.Path, text)
	if v.Reason != "" {
		s += " (" + v.Reason + ")"
	}
	return s
}

// Judge returns a verdict for each claim in the request, in order.
func (r Request) Judge(files Contents) []Verdict {
	j := newJudge(r, files)
	for at, s := range r.Steps {
		if s.Result != nil {
			j.result(at, *s.Result)
		}
	}
	return j.out
}
