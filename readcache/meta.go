package readcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"deja/flatjson"
	"deja/trust"
)

// MetaVersion is the version of Meta and of Invalidate. Others are ignored in replay (spec 3.4).
const MetaVersion = 1

// digestLen is the length of Meta.Digest in hexadecimal digits: 128 bits.
const digestLen = 32

// maxMetaBytes bounds the metadata of one result. Ours has less than a kilobyte plus the path.
const maxMetaBytes = 16 << 10

// Meta is the metadata of a read result, stored as details.readcache (spec 3.1). The fields up to
// Bytes are those of the existing extension, so each replays the other's sessions.
type Meta struct {
	V          int        `json:"v"`
	PathKey    string     `json:"pathKey"`
	ScopeKey   string     `json:"scopeKey"` // what was delivered or is claimed to be there
	ServedHash string     `json:"servedHash"`
	BaseHash   string     `json:"baseHash,omitempty"`
	Mode       trust.Mode `json:"mode"`
	TotalLines int        `json:"totalLines"`
	RangeStart int        `json:"rangeStart"`
	RangeEnd   int        `json:"rangeEnd"`
	Bytes      int        `json:"bytes"` // size of the file

	// Digest is the start of the SHA-256 of the text that was answered. A stored text that does
	// not match was rewritten after the tool ran and proves nothing (spec 3.6).
	Digest string `json:"digest,omitempty"`
	// Saved is by how many bytes a claim is shorter than the plain read.
	Saved int64 `json:"saved,omitempty"`
}

// Digest returns the SHA-256 of a text in lower-case hexadecimal.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ParseMeta reads metadata from a session, which may hold anything. An error means that the
// metadata is to be ignored; it never creates trust.
func ParseMeta(raw []byte) (Meta, error) {
	var m Meta
	if len(raw) > maxMetaBytes {
		return m, fmt.Errorf("read metadata of %d bytes; at most %d are looked at", len(raw), maxMetaBytes)
	}
	if !m.scan(raw) {
		m = Meta{}
		if err := json.Unmarshal(raw, &m); err != nil {
			return Meta{}, fmt.Errorf("read metadata: %w", err)
		}
	}
	if err := m.check(); err != nil {
		return Meta{}, fmt.Errorf("read metadata: %w", err)
	}
	return m, nil
}

// scan reads metadata as deja writes it, some ten times as fast as encoding/json. It reports false
// for anything else, also for what may be right.
func (m *Meta) scan(raw []byte) bool {
	if !flatjson.Plain(raw) {
		return false
	}
	rest, ok := flatjson.Scan(raw, func(name []byte, v flatjson.Value) bool {
		text := func(to *string) bool {
			s, ok := v.Text()
			if string(s) == "full" { // most often both the mode and the scope: no copy
				*to = "full"
			} else {
				*to = string(s)
			}
			return ok
		}
		num := func(to *int) bool { n, ok := v.Int(); *to = int(n); return ok }
		switch string(name) {
		case "v":
			return num(&m.V)
		case "pathKey":
			return text(&m.PathKey)
		case "scopeKey":
			return text(&m.ScopeKey)
		case "servedHash":
			return text(&m.ServedHash)
		case "baseHash":
			return text(&m.BaseHash)
		case "mode":
			return text((*string)(&m.Mode))
		case "totalLines":
			return num(&m.TotalLines)
		case "rangeStart":
			return num(&m.RangeStart)
		case "rangeEnd":
			return num(&m.RangeEnd)
		case "bytes":
			return num(&m.Bytes)
		case "digest":
			return text(&m.Digest)
		case "saved":
			n, ok := v.Int()
			m.Saved = n
			return ok
		}
		return false
	})
	return ok && len(rest) == 0
}

func (m Meta) check() error {
	scope, err := trust.ParseScope(m.ScopeKey)
	switch {
	case m.V != MetaVersion:
		return fmt.Errorf("version %d; only %d is known", m.V, MetaVersion)
	case m.PathKey == "":
		return errors.New("pathKey is empty")
	case err != nil:
		return err
	case !hash(m.ServedHash):
		return fmt.Errorf("servedHash %.80q is not a SHA-256", m.ServedHash)
	case m.BaseHash != "" && !hash(m.BaseHash):
		return fmt.Errorf("baseHash %.80q is not a SHA-256", m.BaseHash)
	case m.Mode.Claim() && m.BaseHash == "":
		return fmt.Errorf("mode %q needs a baseHash", m.Mode)
	case !m.Mode.Claim() && !m.Mode.Anchor():
		return fmt.Errorf("mode %.40q is not known", m.Mode)
	case m.TotalLines < 1 || m.RangeStart < 1 || m.RangeEnd < m.RangeStart || m.RangeEnd > m.TotalLines:
		return fmt.Errorf("lines %d-%d of %d", m.RangeStart, m.RangeEnd, m.TotalLines)
	case scope.Whole() && (m.RangeStart != 1 || m.RangeEnd != m.TotalLines):
		return fmt.Errorf("scope full for lines %d-%d of %d", m.RangeStart, m.RangeEnd, m.TotalLines)
	case !scope.Whole() && scope != trust.Lines(m.RangeStart, m.RangeEnd):
		return fmt.Errorf("scope %s for lines %d-%d", scope, m.RangeStart, m.RangeEnd)
	case m.Bytes < 0:
		return fmt.Errorf("%d bytes", m.Bytes)
	case m.Digest != "" && !(len(m.Digest) == digestLen && hexadecimal(m.Digest)):
		return fmt.Errorf("digest %.80q is not %d hexadecimal digits", m.Digest, digestLen)
	}
	return nil
}

func hash(s string) bool { return len(s) == 2*sha256.Size && hexadecimal(s) }

func hexadecimal(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Invalidate is the custom entry that an explicit refresh leaves in the session (spec 4.4).
type Invalidate struct {
	V        int    `json:"v"`
	Kind     string `json:"kind"` // "invalidate"
	PathKey  string `json:"pathKey"`
	ScopeKey string `json:"scopeKey"`
	At       int64  `json:"at"` // milliseconds since 1970; for people, replay ignores it
}

// InvalidateType is the customType of the entries that hold an Invalidate.
const InvalidateType = "pi-readcache"

// ParseInvalidate reads the data of a custom entry. An error means that it is to be ignored.
func ParseInvalidate(raw []byte) (path string, scope trust.Scope, err error) {
	var inv Invalidate
	if len(raw) > maxMetaBytes {
		return "", scope, fmt.Errorf("invalidation of %d bytes; at most %d are looked at", len(raw), maxMetaBytes)
	}
	// "at" is not used, so a strange one is no reason to ignore a refresh that a user asked for.
	loose := struct {
		*Invalidate
		At json.RawMessage `json:"at"`
	}{Invalidate: &inv}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&loose); err != nil {
		return "", scope, fmt.Errorf("invalidation: %w", err)
	}
	scope, err = trust.ParseScope(inv.ScopeKey)
	if err != nil || inv.V != MetaVersion || inv.Kind != "invalidate" || inv.PathKey == "" {
		return "", scope, fmt.Errorf("invalidation: v %d, kind %.40q, path %.80q, scope %.80q", inv.V, inv.Kind, inv.PathKey, inv.ScopeKey)
	}
	return inv.PathKey, scope, nil
}
