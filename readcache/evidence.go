package readcache

import (
	"encoding/json"
	"slices"
	"strings"

	"deja/trust"
)

// Stored is what a session holds of a read result, besides its metadata.
type Stored struct {
	// Digest is the SHA-256 of the result's text, "" if the result is not exactly one text.
	Digest string
	// Cut says that the host cut the text and put CutLines lines of it into the result
	// (details.truncation). Only results without a digest of their own depend on it.
	Cut      bool
	CutLines int
}

// maxSaved bounds what one claim may report to have saved; more is a forgery.
const maxSaved = 1 << 30

// Evidence says what a stored read result proves. Without proof read is nil and path names what
// the result may have been about, as far as its metadata says (spec 3.6).
func Evidence(raw json.RawMessage, st Stored) (read *trust.Read, saved int64, path string) {
	m, err := ParseMeta(raw)
	if err != nil {
		var loose struct{ PathKey string }
		_ = json.Unmarshal(raw, &loose) // whatever it is, it proves nothing; a name is all we want
		return nil, 0, loose.PathKey
	}
	r := m.read()
	switch {
	case st.Digest == "":
		return nil, 0, m.PathKey
	case m.Digest != "":
		if !strings.HasPrefix(st.Digest, m.Digest) {
			return nil, 0, m.PathKey
		}
	case !m.proveForeign(&r, st):
		return nil, 0, m.PathKey
	}
	return &r, min(max(m.Saved, 0), maxSaved), m.PathKey
}

func (m Meta) read() trust.Read {
	scope, _ := trust.ParseScope(m.ScopeKey) // checked by ParseMeta
	return trust.Read{Path: m.PathKey, Scope: scope, Mode: m.Mode, Served: m.ServedHash, Base: m.BaseHash, Lines: m.TotalLines}
}

// proveForeign proves a result whose metadata has no digest, as those of the existing extension:
// a marker by its text, a whole file by its hash, and lines later, against the object (r.Text).
// That extension calls a cut read of a file full; what counts is what was delivered (spec 3.3).
func (m Meta) proveForeign(r *trust.Read, st Stored) bool {
	if m.Mode.Claim() {
		return slices.ContainsFunc(m.markers(), func(text string) bool { return Digest(text) == st.Digest })
	}
	if st.Cut {
		if st.CutLines < 1 || st.CutLines > m.RangeEnd-m.RangeStart+1 {
			return false
		}
		r.Scope = trust.Lines(m.RangeStart, m.RangeStart+st.CutLines-1)
	}
	if r.Scope.Whole() {
		return st.Digest == m.ServedHash
	}
	r.Text = st.Digest
	return true
}
