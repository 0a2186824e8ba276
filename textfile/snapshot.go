// Package textfile knows what a text file is for deja: strict UTF-8 bytes cut
// into lines the way pi cuts them, how a path argument of pi's read tool names
// a file (spec 2.1), what `path:start-end` means (spec 2.4), and the exact text
// pi's built-in read would answer (the plain read).
//
// It does not know about sessions, trust, stubs or diffs, and it never writes.
// The path rules are those of pi on POSIX systems; the drive-letter forms of
// Windows are not modelled.
//
// Nothing is stripped or repaired: a byte order mark, a carriage return and a
// NUL are bytes like any other, because pi shows them to the model as they are.
package textfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"
)

// ErrNotText says that the bytes are not text for deja: not strict UTF-8, or
// text that pi would take for an image by its first bytes. The answer to it is
// pi's own read (spec 2.6).
var ErrNotText = errors.New("not a text file")

// indexStep is how many lines lie between two entries of the line index. 256
// keeps the index of a 2-million-line file at 64 kB, and leaves at most 255
// newlines to scan per lookup.
const indexStep = 256

// A Snapshot is one set of bytes of one file. Its hash, its lines and every
// text made from it come from these bytes and from no second read (spec 1.4).
//
// A Snapshot never changes and is safe for concurrent use.
type Snapshot struct {
	path    string
	content []byte
	total   int

	hashOnce sync.Once
	hash     string

	indexOnce sync.Once
	index     []int // byte offset of the lines 1, 1+indexStep, 1+2*indexStep, …
}

// NewSnapshot makes a snapshot of content, which belongs to the snapshot from
// now on and must not be changed. The path is a label only; no file is opened.
// The error is ErrNotText.
func NewSnapshot(path string, content []byte) (*Snapshot, error) {
	if !utf8.Valid(content) {
		return nil, fmt.Errorf("textfile: %q: %w: invalid UTF-8", path, ErrNotText)
	}
	if kind := imageLike(content); kind != "" {
		return nil, fmt.Errorf("textfile: %q: %w: starts like %s", path, ErrNotText, kind)
	}
	return &Snapshot{
		path:    path,
		content: content,
		total:   bytes.Count(content, []byte{'\n'}) + 1,
	}, nil
}

// Path is the path the snapshot was made with.
func (s *Snapshot) Path() string { return s.path }

// Bytes is the whole content. The caller must not change it.
func (s *Snapshot) Bytes() []byte { return s.content[:len(s.content):len(s.content)] }

// Hash is the SHA-256 of the content: 64 lower-case hexadecimal digits.
func (s *Snapshot) Hash() string {
	s.hashOnce.Do(func() {
		sum := sha256.Sum256(s.content)
		s.hash = hex.EncodeToString(sum[:])
	})
	return s.hash
}

// Total is the number of lines as pi counts them, with split("\n"): a final
// newline makes a last empty line, and an empty file is one empty line. So it
// is never less than 1.
func (s *Snapshot) Total() int { return s.total }

// Slice is the lines start to end, 1-based and inclusive, joined by "\n" and
// without the newline that follows line end. Bounds outside the file are
// clamped to it; an empty range gives nil. The caller must not change the bytes.
func (s *Snapshot) Slice(start, end int) []byte {
	start, end = max(start, 1), min(end, s.total)
	if start > end {
		return nil
	}
	from, to := s.lineStart(start), len(s.content)
	if end < s.total {
		to = s.lineStart(end+1) - 1
	}
	return s.content[from:to:to]
}

// lineStart is the byte offset of the first byte of the given line, which must
// be in 1..Total().
func (s *Snapshot) lineStart(line int) int {
	if line == 1 {
		return 0 // reads of a whole file need no index
	}
	s.indexOnce.Do(s.buildIndex)
	slot := (line - 1) / indexStep
	at := s.index[slot]
	for range line - 1 - slot*indexStep {
		at += bytes.IndexByte(s.content[at:], '\n') + 1
	}
	return at
}

func (s *Snapshot) buildIndex() {
	index := make([]int, 1, (s.total-1)/indexStep+1)
	// The slots after the first start right after every indexStep-th newline.
	at, seen := 0, 0
	for len(index) < cap(index) {
		at += bytes.IndexByte(s.content[at:], '\n') + 1
		if seen++; seen%indexStep == 0 {
			index = append(index, at)
		}
	}
	s.index = index
}

// imageLike names the image kind pi might see in valid UTF-8, "" if none. The
// lines of pi look at the first bytes in different ways: 0.73 skips byte order
// marks and ID3 headers and takes "GIF" alone for a picture, 0.87 also knows
// BMP. This test covers both and errs on the side of "image": the cost is a
// plain read, where the opposite error would be a wrong one. JPEG and PNG
// cannot be valid UTF-8.
func imageLike(content []byte) string {
	for {
		rest, found := bytes.CutPrefix(content, []byte("\xef\xbb\xbf"))
		if !found {
			break
		}
		content = rest
	}
	switch {
	case bytes.HasPrefix(content, []byte("GIF")):
		return "a GIF image"
	case bytes.HasPrefix(content, []byte("ID3")):
		return "an ID3 header"
	case bytes.HasPrefix(content, []byte("RIFF")) && len(content) >= 12 && string(content[8:12]) == "WEBP":
		return "a WebP image"
	case bytes.HasPrefix(content, []byte("BM")) && bytes.IndexByte(content[:min(len(content), 30)], 0) >= 0:
		// A bitmap header counts one colour plane in 16 bits, so a NUL is in it.
		return "a bitmap image"
	}
	return ""
}
