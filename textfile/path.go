package textfile

import (
	"os"
	"path"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Resolve is the path that pi's read opens for the argument raw (spec 2.1, 2.2): the
// lexical path or, when that does not exist, the first of the names that macOS
// may have given the file instead. It asks the real file system which exist.
//
// The cwd is absolute; home is what "~" stands for. The result is absolute, or
// "" when pi would refuse the argument (a malformed file URL) or when no
// absolute path can be made; loading "" gives fs.ErrNotExist.
func Resolve(raw, cwd, home string, d Dialect) string {
	resolved := Lexical(raw, cwd, home, d)
	if resolved == "" || exists(resolved) {
		return resolved
	}
	nfd := norm.NFD.String(resolved)
	// The order is pi's, and so is not trying all combinations.
	for _, variant := range []string{
		narrowSpaces(resolved),
		nfd,
		curlyQuotes(resolved),
		curlyQuotes(nfd),
	} {
		if variant != resolved && exists(variant) {
			return variant
		}
	}
	return resolved
}

// Lexical is Resolve without a look at the file system, so without the macOS
// variants.
func Lexical(raw, cwd, home string, d Dialect) string {
	expanded, ok := expand(raw, home, d)
	if !ok {
		return ""
	}
	if strings.HasPrefix(expanded, "/") {
		if d.CleanPaths {
			return path.Clean(expanded)
		}
		return expanded
	}
	if !strings.HasPrefix(cwd, "/") {
		// pi would go on from its process's own folder, which is not ours.
		return ""
	}
	return path.Clean(cwd + "/" + expanded)
}

// expand strips "@", makes spaces plain, and puts in the home folder.
func expand(raw, home string, d Dialect) (string, bool) {
	p := strings.Map(plainSpace, strings.TrimPrefix(raw, "@"))
	switch {
	case p == "~":
		return home, true
	case strings.HasPrefix(p, "~/"):
		if d.CleanPaths {
			// path.Join drops an empty home; pi's join does too.
			return path.Join(home, p[2:]), true
		}
		return home + p[1:], true
	case d.FileURLs && strings.HasPrefix(p, "file://"):
		return fileURLPath(p)
	}
	return p, true
}

// plainSpace maps the Unicode spaces that pi knows to U+0020.
func plainSpace(r rune) rune {
	switch {
	case r == '\u00a0', '\u2000' <= r && r <= '\u200a', r == '\u202f', r == '\u205f', r == '\u3000':
		return ' '
	}
	return r
}

// exists is pi's access(F_OK): links are followed, and any error is a no.
func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

var beforeMeridiem = regexp.MustCompile(` ([AaPp][Mm])\.`)

// narrowSpaces gives the name of a macOS screenshot, with U+202F before AM/PM.
func narrowSpaces(p string) string {
	return beforeMeridiem.ReplaceAllString(p, "\u202f$1.")
}

// curlyQuotes gives the name with typographic apostrophes, as in the French
// screenshots of macOS.
func curlyQuotes(p string) string { return strings.ReplaceAll(p, "'", "\u2019") }
