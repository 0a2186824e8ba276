package textfile

import (
	"fmt"
	"strconv"
)

// A PlainRead is what pi's built-in read answers for one snapshot.
type PlainRead struct {
	// Text is the whole answer: the lines Start to End as Snapshot.Slice gives
	// them, then Notice.
	Text string
	// Notice is the part of Text that is not file content, with the blank line
	// that sets it off; "" when there is none.
	Notice string
	// Start and End are the lines really delivered, 1-based and inclusive. When
	// nothing was delivered, End is Start-1.
	Start, End int
	// AskedEnd is the last line that was asked for, clamped to the file; it is
	// more than End when pi's limits cut the answer. Start-1 for an empty range.
	AskedEnd int
	// Total is Snapshot.Total.
	Total int
	// Cut says that pi's limits cut the answer. A limit of the caller is no cut.
	Cut bool
	// Truncation is pi's details.truncation; nil when Cut is false.
	Truncation *Truncation
	// Next is the offset that the notice names to continue at; 0 if none.
	Next int
}

// An OffsetError says that a read starts after the last line. Its message is
// pi's own.
type OffsetError struct {
	Offset int // as asked, 1-based
	Total  int // lines of the file
}

func (e *OffsetError) Error() string {
	return fmt.Sprintf("Offset %s is beyond end of file (%d lines total)", jsNumber(float64(e.Offset)), e.Total)
}

// Plain renders what pi's built-in read would return as text, byte for byte.
// The pathArg is the path argument as pi would get it; a notice may name it.
//
// A nil offset or limit is an absent one. Other values mean what they mean to
// pi's JavaScript: an offset of 0 or less starts at line 1; a limit of 0
// delivers nothing; a negative limit ends the range before its start or, if
// that is before the file, counts from the end of the file as Array.slice does.
//
// The error is an *OffsetError or nil.
func Plain(s *Snapshot, pathArg string, offset, limit *int, d Dialect) (PlainRead, error) {
	skip := 0 // lines before the first one, pi's startLine
	if offset != nil && *offset > 0 {
		skip = *offset - 1
	}
	if skip >= s.total {
		return PlainRead{}, &OffsetError{Offset: *offset, Total: s.total}
	}
	asked := s.total
	// endLine is a number of JavaScript: exact for every limit that pi can be
	// given, and it must not overflow.
	endLine := float64(s.total)
	if limit != nil {
		endLine = min(float64(skip)+float64(*limit), endLine)
		asked = max(sliceEnd(endLine, s.total), skip)
	}
	body, cut := truncateHead(s.Slice(skip+1, asked), d)

	r := PlainRead{Start: skip + 1, End: asked, AskedEnd: asked, Total: s.total}
	switch {
	case cut != nil:
		r.Cut, r.Truncation = true, cut
		r.End = skip + cut.OutputLines
		r.Notice, r.Next = cutNotice(s, pathArg, skip+1, cut)
	case endLine < float64(s.total):
		next := endLine + 1
		r.Notice = fmt.Sprintf("\n\n[%s more lines in file. Use offset=%s to continue.]",
			jsNumber(float64(s.total)-endLine), jsNumber(next))
		// A negative limit makes pi name an offset that is no line.
		r.Next = int(max(next, 0))
	}
	r.Text = string(body) + r.Notice
	if cut != nil {
		cut.Content = r.Text[:len(body)]
	}
	return r, nil
}

// sliceEnd is the index at which Array.slice(_, end) ends in n elements.
func sliceEnd(end float64, n int) int {
	if end < 0 {
		return int(max(float64(n)+end, 0))
	}
	return int(end)
}

// cutNotice is the notice pi appends when its limits cut a read that starts at
// the given line, and the offset to go on at.
func cutNotice(s *Snapshot, pathArg string, start int, t *Truncation) (notice string, next int) {
	if t.FirstLineExceedsLimit {
		line := len(s.Slice(start, start))
		return fmt.Sprintf("[Line %d is %s, exceeds %s limit. Use bash: sed -n '%dp' %s | head -c %d]",
			start, formatSize(line), formatSize(t.MaxBytes), start, pathArg, t.MaxBytes), 0
	}
	next = start + t.OutputLines
	limit := ""
	if t.TruncatedBy == CutByBytes {
		limit = fmt.Sprintf(" (%s limit)", formatSize(t.MaxBytes))
	}
	return fmt.Sprintf("\n\n[Showing lines %d-%d of %d%s. Use offset=%d to continue.]",
		start, next-1, s.total, limit, next), next
}

// jsNumber writes a whole number as JavaScript does. Up to 2^53 that is its
// decimal form; above, the shortest digits that round-trip, padded with zeros.
func jsNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
