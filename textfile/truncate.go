package textfile

import (
	"bytes"
	"fmt"
)

// CutBy says which of pi's limits cut a text.
type CutBy string

// The values pi writes into details.truncation.truncatedBy.
const (
	CutByLines CutBy = "lines"
	CutByBytes CutBy = "bytes"
)

// A Truncation is pi's details.truncation, field by field; its JSON form is the
// one pi writes. Lines are counted as the dialect counts them, so TotalLines may
// be one less than Snapshot.Total even for a read of the whole file.
type Truncation struct {
	Content     string `json:"content"`
	Truncated   bool   `json:"truncated"`
	TruncatedBy CutBy  `json:"truncatedBy"`
	TotalLines  int    `json:"totalLines"`
	TotalBytes  int    `json:"totalBytes"`
	OutputLines int    `json:"outputLines"`
	OutputBytes int    `json:"outputBytes"`
	// LastLinePartial is always false: a read never cuts inside a line.
	LastLinePartial bool `json:"lastLinePartial"`
	// FirstLineExceedsLimit says that not even one line fits, so that nothing
	// was delivered.
	FirstLineExceedsLimit bool `json:"firstLineExceedsLimit"`
	MaxLines              int  `json:"maxLines"`
	MaxBytes              int  `json:"maxBytes"`
}

// truncateHead cuts text to the limits of d as pi's truncateHead does, and
// returns the bytes kept. It gives a nil Truncation when nothing had to be cut,
// as pi's read does. Content is left for the caller to fill in.
func truncateHead(text []byte, d Dialect) ([]byte, *Truncation) {
	maxLines, maxBytes := d.maxLines(), d.maxBytes()
	counted := text
	total := bytes.Count(text, []byte{'\n'}) + 1
	if d.FinalNewline == Terminator {
		if len(text) == 0 {
			return text, nil
		}
		if rest, found := bytes.CutSuffix(text, []byte{'\n'}); found {
			counted, total = rest, total-1
		}
	}
	if total <= maxLines && len(text) <= maxBytes {
		return text, nil
	}
	t := &Truncation{
		Truncated: true, TruncatedBy: CutByLines,
		TotalLines: total, TotalBytes: len(text), MaxLines: maxLines, MaxBytes: maxBytes,
	}
	kept := 0 // bytes of counted kept so far
	for lines := 0; lines < total && lines < maxLines; lines++ {
		next := kept
		if lines > 0 {
			next++ // the newline before this line
		}
		if n := bytes.IndexByte(counted[next:], '\n'); n >= 0 {
			next += n
		} else {
			next = len(counted)
		}
		if next > maxBytes {
			t.TruncatedBy = CutByBytes
			t.FirstLineExceedsLimit = lines == 0
			break
		}
		kept = next
		t.OutputLines = lines + 1
	}
	t.OutputBytes = kept
	return counted[:kept], t
}

// formatSize writes a number of bytes as pi does: "512B", "50.0KB", "1.5MB".
// JavaScript's toFixed(1) rounds a tie up, where Go would round it to even, so
// the tenths are computed in integers.
func formatSize(n int) string {
	const kb, mb = 1024, 1024 * 1024
	unit, name := mb, "MB"
	switch {
	case n < kb:
		return fmt.Sprintf("%dB", n)
	case n < mb:
		unit, name = kb, "KB"
	}
	tenths := (n%unit*10 + unit/2) / unit
	whole := n/unit + tenths/10
	return fmt.Sprintf("%d.%d%s", whole, tenths%10, name)
}
