package pi

import "encoding/json"

// Protocol is the version of the messages. It changes when an old extension could misunderstand
// a new engine or the other way round; new optional fields do not change it.
const Protocol = 1

// MaxMessage is the most bytes of one line in either direction.
const MaxMessage = 64 << 20

// Methods of the protocol. The engine sends Ready when it starts; everything else comes from
// the host.
const (
	MethodReady   = "ready"   // notification of the engine: ReadyParams
	MethodOpen    = "open"    // OpenParams -> OpenResult
	MethodEntries = "entries" // EntriesParams -> {}
	MethodRead    = "read"    // ReadParams -> ReadResult
	MethodRefresh = "refresh" // RefreshParams -> RefreshResult
	MethodStatus  = "status"  // StatusParams -> StatusResult
	MethodClose   = "close"   // CloseParams -> {}
	MethodPing    = "ping"    // nothing -> {}
	MethodCancel  = "cancel"  // notification of the host: CancelParams
)

// Error codes besides those of JSON-RPC 2.0.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeTooLarge       = -32001 // a message over MaxMessage; it was skipped
	CodeNoSession      = -32002 // open the session first; all its entries must be sent again
	CodeNoLeaf         = -32003 // the leaf is not among the entries sent; send its branch
	CodeCancelled      = -32004 // the request was given up by cancel
	CodeRefused        = -32005 // the request makes no sense; the message is for the user or the model
	CodeFull           = -32006 // more sessions or entries than the engine takes
)

// ReadyParams is the first message, from the engine.
type ReadyParams struct {
	Protocol   int      `json:"protocol"`
	Version    string   `json:"version"` // of deja, for people
	Methods    []string `json:"methods"`
	MaxMessage int      `json:"maxMessage"`
}

// OpenParams starts a session, or starts it anew: what was sent for it before is forgotten.
type OpenParams struct {
	Session string `json:"session"` // the host's id of it
	Cwd     string `json:"cwd"`     // absolute
	Home    string `json:"home,omitempty"`
	Host    Host   `json:"host"`
}

// Host tells how the host's own read counts and cuts; the extension measures it.
type Host struct {
	MaxLines int `json:"maxLines"` // 0: 2000
	MaxBytes int `json:"maxBytes"` // 0: 51200
	// FinalNewline is "separator" if the limits count the empty line after a final newline
	// (pi 0.73) and "terminator" if they do not (pi 0.87).
	FinalNewline string `json:"finalNewline"`
}

// OpenResult lists what is wrong with the settings; the defaults are used instead.
type OpenResult struct {
	Enabled  bool     `json:"enabled"`
	Problems []string `json:"problems,omitempty"`
}

// EntriesParams adds entries, each parent before its children and no entry twice.
type EntriesParams struct {
	Session string  `json:"session"`
	Entries []Entry `json:"entries"`
}

// ReadParams is a call of the read tool at a leaf. Entries are those that the engine has not
// seen yet. Offset and Limit are what the model sent, whatever it is.
type ReadParams struct {
	EntriesParams
	Leaf   string          `json:"leaf"` // "" before the first entry
	Path   string          `json:"path"`
	Offset json.RawMessage `json:"offset,omitempty"`
	Limit  json.RawMessage `json:"limit,omitempty"`
}

// ReadResult is the answer to a read: exactly one of Error, Text and Plain.
type ReadResult struct {
	Reason string          `json:"reason"`
	Error  string          `json:"error,omitempty"` // make it an error result
	Text   *string         `json:"text,omitempty"`  // serve it as it is
	Plain  *Plain          `json:"plain,omitempty"` // run the host's own read
	Meta   json.RawMessage `json:"readcache,omitempty"`
}

// Plain says how to run the host's own read. The metadata goes into the result if, and only if,
// the result is one text whose SHA-256 is Expect.
type Plain struct {
	Path   string          `json:"path"`
	Offset json.RawMessage `json:"offset,omitempty"`
	Limit  json.RawMessage `json:"limit,omitempty"`
	Expect string          `json:"expect,omitempty"`
}

// RefreshParams asks for the entry that forces a full read. Either Line (the arguments of the
// command) or Path with Offset and Limit is given. It may bring entries, as a read may.
type RefreshParams struct {
	EntriesParams
	Line   *string         `json:"line,omitempty"`
	Path   string          `json:"path,omitempty"`
	Offset json.RawMessage `json:"offset,omitempty"`
	Limit  json.RawMessage `json:"limit,omitempty"`
}

// RefreshResult holds the custom entry to append and a line for the user or the model.
type RefreshResult struct {
	CustomType string `json:"customType"`
	Data       any    `json:"data"`
	Text       string `json:"text"`
}

// StatusParams asks about a branch. Faults counts the reads that the extension had to serve
// without the engine, by reason.
type StatusParams struct {
	EntriesParams
	Leaf   string         `json:"leaf"`
	Faults map[string]int `json:"faults,omitempty"`
}

// StatusResult has the same facts twice: as text for people and as fields.
type StatusResult struct {
	Text   string         `json:"text"`
	Status any            `json:"status"`
	Served map[string]int `json:"served"` // answers of this process for this session, by reason
}

// CloseParams ends a session.
type CloseParams struct {
	Session string `json:"session"`
}

// CancelParams gives up the request with this id.
type CancelParams struct {
	ID json.RawMessage `json:"id"`
}

// Entry is a session entry of pi, reduced to what replay looks at. Texts are sent as digests.
type Entry struct {
	ID     string `json:"id"`
	Parent string `json:"parentId,omitempty"` // "" or null for a root
	Type   string `json:"type"`
	Role   string `json:"role,omitempty"` // of a message

	Calls []Call `json:"calls,omitempty"` // assistant: its calls of the tool "read"

	CallID string          `json:"toolCallId,omitempty"` // toolResult
	Tool   string          `json:"toolName,omitempty"`   // toolResult
	Failed bool            `json:"isError,omitempty"`    // toolResult
	Meta   json.RawMessage `json:"readcache,omitempty"`  // toolResult: details.readcache
	Digest string          `json:"digest,omitempty"`     // read result that is exactly one text: its SHA-256
	Cut    *int            `json:"cut,omitempty"`        // read result with details.truncation.truncated: outputLines

	CustomType string          `json:"customType,omitempty"` // custom
	Data       json.RawMessage `json:"data,omitempty"`       // custom entries of ours

	Target string `json:"targetId,omitempty"` // context_edit
	Omit   bool   `json:"omit,omitempty"`     // context_edit: the replacement is null
}

// Call is a call of the read tool.
type Call struct {
	ID   string `json:"id"`
	Path string `json:"path"`
}
