// Package flatjson scans JSON objects of the plain kind that programs write: no escapes in strings,
// no white space between tokens, whole numbers.
//
// It exists because replaying a long session decodes one such object for each entry and one for
// each read result, and encoding/json takes most of the time there (docs/performance.md, "cold
// replay"). It never guesses: whatever is not of this kind is refused, and the caller hands it to
// encoding/json. Everything it accepts means the same there; a fuzz target holds it to that.
package flatjson

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf8"
)

// Plain reports whether text has none of the bytes that would make a string more than the bytes
// between its quotes: no escapes, no control characters, valid UTF-8. Everything else here needs it.
func Plain(text []byte) bool {
	const each = 0x0101010101010101
	rest := text
	for ; len(rest) >= 8; rest = rest[8:] { // eight bytes at a time: it is a tenth of a replay otherwise
		x := binary.LittleEndian.Uint64(rest)
		if (x-each*' ')&^x&(each*0x80) != 0 { // a byte below ' '
			return false
		}
	}
	for _, c := range rest {
		if c < ' ' {
			return false
		}
	}
	return bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text)
}

// Value is a JSON value as it stands in the text.
type Value []byte

// Object reads an object at the start of text, calling member with each name and the text at its
// value; member returns what follows the value. ok is false if the object is not of the plain kind
// or member refused something; what was seen by then means nothing. Name belongs to text.
func Object(text []byte, member func(name, at []byte) (rest []byte, ok bool)) (rest []byte, ok bool) {
	if len(text) < 2 || text[0] != '{' {
		return nil, false
	}
	if text[1] == '}' {
		return text[2:], true
	}
	for sep := byte('{'); ; sep = ',' {
		if len(text) == 0 || text[0] != sep {
			return nil, false
		}
		name, after := quoted(text[1:])
		if name == nil || len(after) == 0 || after[0] != ':' {
			return nil, false
		}
		if text, ok = member(name[1:len(name)-1], after[1:]); !ok || len(text) == 0 {
			return nil, false
		}
		if text[0] == '}' {
			return text[1:], true
		}
	}
}

// Scan is Object for members that are wanted as values.
func Scan(text []byte, field func(name []byte, v Value) bool) (rest []byte, ok bool) {
	return Object(text, func(name, at []byte) ([]byte, bool) {
		v, rest := Next(at)
		return rest, v != nil && field(name, v)
	})
}

// Next splits off the value at the start of text: nil if there is none of the plain kind.
func Next(text []byte) (v Value, rest []byte) { return value(text, 0) }

// Array reads an array at the start of text, calling item with the text at each element; item
// returns what follows the element. The text must be Plain.
func Array(text []byte, item func(at []byte) (rest []byte, ok bool)) (rest []byte, ok bool) {
	if len(text) < 2 || text[0] != '[' {
		return nil, false
	}
	if text[1] == ']' {
		return text[2:], true
	}
	for sep := byte('['); ; sep = ',' {
		if len(text) == 0 || text[0] != sep {
			return nil, false
		}
		if text, ok = item(text[1:]); !ok || len(text) == 0 {
			return nil, false
		}
		if text[0] == ']' {
			return text[1:], true
		}
	}
}

// Text returns the contents of a string. The bytes belong to the text that was scanned.
func (v Value) Text() ([]byte, bool) {
	if v[0] != '"' {
		return nil, false
	}
	return v[1 : len(v)-1], true
}

// Int returns a whole number that fits.
func (v Value) Int() (int64, bool) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil
}

// Bool returns true or false.
func (v Value) Bool() (is, ok bool) { return v[0] == 't', v[0] == 't' || v[0] == 'f' }

// maxDepth bounds how deep a value may nest; what we look at is three deep.
const maxDepth = 8

func value(text []byte, depth int) (v, rest []byte) {
	if len(text) == 0 || depth > maxDepth {
		return nil, nil
	}
	skip := func(at []byte) ([]byte, bool) {
		v, rest := value(at, depth+1)
		return rest, v != nil
	}
	var ok bool
	switch c := text[0]; {
	case c == '"':
		return quoted(text)
	case c == '{':
		if rest, ok = Object(text, func(_, at []byte) ([]byte, bool) { return skip(at) }); !ok {
			return nil, nil
		}
		return text[:len(text)-len(rest)], rest
	case c == '[':
		if rest, ok = Array(text, skip); !ok {
			return nil, nil
		}
		return text[:len(text)-len(rest)], rest
	case c == '-' || (c >= '0' && c <= '9'):
		return number(text)
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return text[:len(word)], text[len(word):]
		}
	}
	return nil, nil
}

func quoted(text []byte) (v, rest []byte) {
	if len(text) == 0 || text[0] != '"' {
		return nil, nil
	}
	end := 1 + bytes.IndexByte(text[1:], '"')
	if end == 0 {
		return nil, nil
	}
	return text[:end+1], text[end+1:]
}

func number(text []byte) (v, rest []byte) {
	i := 0
	if text[0] == '-' {
		i = 1
	}
	first := i
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	// A leading zero is no JSON; fractions and exponents are not of the plain kind.
	if i == first || (text[first] == '0' && i > first+1) || (i < len(text) && (text[i] == '.' || text[i] == 'e' || text[i] == 'E')) {
		return nil, nil
	}
	return text[:i], text[i:]
}
