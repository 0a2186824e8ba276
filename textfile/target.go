package textfile

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSafeInteger is the largest line number that pi's JavaScript counts exactly.
const maxSafeInteger = 1<<53 - 1

// A Target is what the arguments of a read mean once the shorthand
// `path:start-end` is resolved.
type Target struct {
	// Path is the file pi opens: Resolve of Arg.
	Path string
	// Arg is the path argument to hand to pi's own read: the raw one, without
	// the range suffix if there was one.
	Arg string
	// Offset and Limit are those to hand to pi's own read; nil when absent.
	Offset, Limit *int
	// FromSuffix says that Offset and Limit come from the path argument.
	FromSuffix bool
}

// A RangeError says that a path argument ends in a range suffix that names no
// lines.
type RangeError struct {
	Suffix string // as written, with its colon
	Reason string
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("Invalid line range %q: %s. Use path:line or path:start-end, with 1 <= start <= end.", e.Suffix, e.Reason)
}

// ParseTarget applies the rules of spec 2.4 to the arguments of a read:
//
//  1. With an offset or a limit, the path is taken as it is.
//  2. A path that exists as it is written is that file, even if it ends in ":12".
//  3. Else a trailing ":n" is line n, and ":n-m" the lines n to m,
//  4. but only if the path before the colon exists.
//  5. In doubt, the path is taken as it is.
//
// The error is a *RangeError: the suffix passed the rules, but its numbers are
// zero, reversed or too large.
func ParseTarget(raw string, offset, limit *int, cwd, home string, d Dialect) (Target, error) {
	asIs := Target{Path: Resolve(raw, cwd, home, d), Arg: raw, Offset: offset, Limit: limit}
	if offset != nil || limit != nil {
		return asIs, nil
	}
	arg, suffix, ok := cutRange(raw)
	if !ok || (asIs.Path != "" && exists(asIs.Path)) {
		return asIs, nil
	}
	// An empty path would resolve to the working folder, and nobody means that.
	resolved := ""
	if strings.TrimPrefix(arg, "@") != "" {
		resolved = Resolve(arg, cwd, home, d)
	}
	if resolved == "" || !exists(resolved) {
		return asIs, nil
	}
	start, end, err := parseRange(suffix)
	if err != nil {
		return Target{}, err
	}
	count := end - start + 1
	return Target{Path: resolved, Arg: arg, Offset: &start, Limit: &count, FromSuffix: true}, nil
}

// cutRange cuts a trailing ":n" or ":n-m" off raw, n and m being ASCII digits.
func cutRange(raw string) (arg, suffix string, ok bool) {
	colon := strings.LastIndexByte(raw, ':')
	if colon < 0 {
		return "", "", false
	}
	first, second, both := strings.Cut(raw[colon+1:], "-")
	if !isDigits(first) || both && !isDigits(second) {
		return "", "", false
	}
	return raw[:colon], raw[colon:], true
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// parseRange reads a suffix that cutRange found.
func parseRange(suffix string) (start, end int, err error) {
	first, second, both := strings.Cut(suffix[1:], "-")
	if !both {
		second = first
	}
	for _, part := range []struct {
		digits string
		value  *int
	}{{first, &start}, {second, &end}} {
		n, err := strconv.Atoi(part.digits)
		if err != nil || int64(n) > maxSafeInteger {
			return 0, 0, &RangeError{suffix, "line number " + part.digits + " is too large"}
		}
		if n == 0 {
			return 0, 0, &RangeError{suffix, "lines are counted from 1"}
		}
		*part.value = n
	}
	if end < start {
		return 0, 0, &RangeError{suffix, fmt.Sprintf("end %d is before start %d", end, start)}
	}
	return start, end, nil
}
