package readcache

import (
	"fmt"

	"deja/trust"
)

// The texts of claims are those of spec 7.1 and 7.2; tools and models rely on them to the letter.

func unchangedText(total int) string {
	return fmt.Sprintf("[readcache: unchanged, %d lines]", total)
}

func unchangedRangeText(start, end, total int) string {
	return fmt.Sprintf("[readcache: unchanged in lines %d-%d of %d]", start, end, total)
}

func elsewhereText(start, end int) string {
	return fmt.Sprintf("[readcache: unchanged in lines %d-%d; changes exist outside this range]", start, end)
}

func diffText(changed, total int, unified string) string {
	return fmt.Sprintf("[readcache: %d lines changed of %d]\n%s", changed, total, unified)
}

// continuation tells that the claim ends where the host's own cut would be, in the words that the
// host uses for a read that stops early.
func continuation(next, total int) string {
	if next == 0 {
		return ""
	}
	return fmt.Sprintf("\n\n[%d more lines in file. Use offset=%d to continue.]", total-next+1, next)
}

// markers lists the texts that a claim with this metadata can have had when it was served by
// the existing extension, which keeps no digest of what it answered.
func (m Meta) markers() []string {
	switch m.Mode {
	case trust.ModeUnchanged:
		return []string{unchangedText(m.TotalLines)}
	case trust.ModeUnchangedRange:
		return []string{unchangedRangeText(m.RangeStart, m.RangeEnd, m.TotalLines), elsewhereText(m.RangeStart, m.RangeEnd)}
	}
	return nil
}
