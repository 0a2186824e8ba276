package trust

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Scope is a set of lines of a file: all of them (Full) or an inclusive 1-based range.
type Scope struct {
	Start, End int // both 0 for Full
}

// Full is the scope of a whole file.
var Full = Scope{}

// endless stands for "to the end of the file, wherever that is".
const endless = math.MaxInt

// Lines returns the range scope start..end; both must be positive and end >= start.
func Lines(start, end int) Scope { return Scope{start, end} }

// Whole reports whether s is Full.
func (s Scope) Whole() bool { return s == Full }

// String returns the scope key of spec 3.2: "full" or "r:<start>:<end>".
func (s Scope) String() string {
	if s.Whole() {
		return "full"
	}
	return "r:" + strconv.Itoa(s.Start) + ":" + strconv.Itoa(s.End)
}

// ParseScope reads a scope key. It accepts exactly what String writes; anything else is an error.
func ParseScope(key string) (Scope, error) {
	if key == "full" {
		return Full, nil
	}
	from, to, ok := strings.Cut(strings.TrimPrefix(key, "r:"), ":")
	start, err1 := strconv.Atoi(from)
	end, err2 := strconv.Atoi(to)
	s := Lines(start, end)
	if !ok || err1 != nil || err2 != nil || start < 1 || end < start || s.String() != key {
		return Scope{}, fmt.Errorf("scope key %.80q: want \"full\" or \"r:<start>:<end>\" with 1 <= start <= end", key)
	}
	return s, nil
}

// bounds gives the lines of s as an interval; a whole file reaches to its end, wherever that is.
func (s Scope) bounds() (lo, hi int) {
	if s.Whole() {
		return 1, endless
	}
	return s.Start, s.End
}

// Mode says how a read was answered (spec 3.1).
type Mode string

// The modes of a read result. Full and Fallback deliver text (anchors); the others refer to
// text delivered earlier (derived) and count only if that text is proven to be there.
const (
	ModeFull           Mode = "full"
	ModeFallback       Mode = "baseline_fallback"
	ModeUnchanged      Mode = "unchanged"
	ModeUnchangedRange Mode = "unchanged_range"
	ModeDiff           Mode = "diff"
)

// Anchor reports whether a result of this mode delivers the text itself.
func (m Mode) Anchor() bool { return m == ModeFull || m == ModeFallback }

// Claim reports whether a result of this mode refers to text delivered earlier.
func (m Mode) Claim() bool {
	return m == ModeUnchanged || m == ModeUnchangedRange || m == ModeDiff
}

// Read is one read result that reached the session, as its metadata describes it.
type Read struct {
	Path   string // key of the file, opaque here
	Scope  Scope  // lines delivered, or claimed to be there
	Mode   Mode
	Served string // version of the file that was answered about
	Base   string // version the claim refers to; empty for an anchor without one
	Lines  int    // number of lines of the served version
	// Text is empty when the caller has proven that the stored text is what was delivered.
	// Otherwise it is the digest of the stored text, kept so that whoever uses this
	// delivery as a base can prove it first (spec 3.6).
	Text string
}
