package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Problem is one thing in a settings file that could not be used.
type Problem struct {
	// File is the path of the settings file.
	File string
	// Line and Column are where it is, counted from 1; Column in characters. A
	// problem with the file as a whole (unreadable, too large) is at 1, 1.
	Line, Column int
	// Key is the setting, such as "diff.maxBytes" or "exclude[2]" (counted from
	// 0); empty for a problem with the file as a whole.
	Key string
	// Message says what is wrong, what is accepted, and what is in force now.
	Message string
}

// String gives the problem on one line: file:line:column: "key": message.
func (p Problem) String() string {
	place := fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
	if p.Key == "" {
		return place + p.Message
	}
	return place + fmt.Sprintf("%q: ", p.Key) + p.Message
}

// position turns an offset in text into line and column.
func position(text []byte, offset int) (line, column int) {
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// clip makes text from a file fit into a one-line message.
func clip(text string) string {
	const most = 80
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
