package config

import (
	"bytes"
	"unicode/utf8"
)

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns the offset of the first bracket beyond maxDepth, or -1,
// leaving out strings and comments.
func tooDeep(text []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		if !inString && text[i] == '/' {
			i += comment(text[i:])
			continue
		}
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// comment returns how many bytes to skip to the last one of the comment that
// text starts with; 0 if it starts with none.
func comment(text []byte) int {
	for start, end := range map[string]string{"//": "\n", "/*": "*/"} {
		if rest, ok := bytes.CutPrefix(text, []byte(start)); ok {
			if n := bytes.Index(rest, []byte(end)); n >= 0 {
				return len(start) + n + len(end) - 1
			}
			return len(text)
		}
	}
	return 0
}
