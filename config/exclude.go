package config

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tailscale/hujson"
)

// Bounds of one pattern. Alternatives multiply, {a,b}{a,b}{a,b} has 8, and the
// matcher may try them all; a project file is somebody else's text.
const (
	maxPattern      = 512
	maxAlternatives = 256
)

// maxPatterns is how many patterns there may be in one list. With more, trying
// them all on every read would cost more than the cache saves.
const maxPatterns = 1000

// DefaultExcludes returns the patterns that are in force unless the user drops
// them: files that usually hold secrets (spec 9.4).
func DefaultExcludes() []string {
	return []string{
		".env*", "*.pem", "*.key", "*.p12", "*.pfx", "*.crt", "*.cer", "*.der", "*.pk8",
		"id_rsa", "id_ed25519", ".npmrc", ".netrc",
	}
}

// Excluded reports whether any of the paths matches a pattern of c.Exclude, so
// that the file must bypass the cache (spec 9.4). The paths are absolute names
// of one file: pass the one that was asked for and the one with links resolved.
//
// Patterns are those of doublestar: *, ?, [a-z], {a,b}, and ** for any number of
// folders. Letter case never matters.
//
//   - Without a slash, a pattern matches the last element of the path, wherever
//     the file is.
//   - With a slash, it matches the path relative to the project folder, or the
//     absolute path; "~/" at its start means the user's home folder. It also
//     matches everything below a folder that it matches: "certs/", "certs" with
//     a slash in front ("./certs") and "certs/**" say the same.
func (c Config) Excluded(paths ...string) bool {
	for _, name := range paths {
		name = fold(slash(name))
		// The absolute path, then what it is called in the project.
		whole := []string{name}
		for _, base := range c.base {
			if rel, ok := strings.CutPrefix(name, strings.TrimSuffix(base, "/")+"/"); ok {
				whole = append(whole, rel)
			}
		}
		for _, pattern := range c.Exclude {
			if c.matches(pattern, whole) {
				return true
			}
		}
	}
	return false
}

// matches tests one pattern against the folded spellings of one path.
func (c Config) matches(pattern string, whole []string) bool {
	pattern = fold(pattern)
	if !strings.Contains(pattern, "/") {
		return match(pattern, path.Base(whole[0]))
	}
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok && c.home != "" {
		pattern = fold(literal(c.home)) + "/" + rest
	}
	pattern = strings.TrimPrefix(pattern, "./")
	pattern = strings.TrimSuffix(strings.TrimSuffix(pattern, "/**"), "/") + "/**"
	return slices.ContainsFunc(whole, func(name string) bool { return match(pattern, name) })
}

// match is doublestar.Match; a pattern that cannot be matched excludes, since
// [Load] lets none through.
func match(pattern, name string) bool {
	ok, err := doublestar.Match(pattern, name)
	return ok || err != nil
}

// exclude takes over the patterns of an "exclude" list.
func (d *document) exclude(v hujson.Value) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		d.unsafe = true
		// Somebody wrote one pattern without brackets: clear enough to obey.
		if _, isString := toString(v.Value); isString {
			d.report(v.StartOffset, "exclude", d.wrong(v, "a list of patterns, [ … ]", "it is taken as a list of one"))
			d.pattern("exclude", v)
			return
		}
		d.report(v.StartOffset, "exclude", d.wrong(v, "a list of patterns, [ … ]", "the other exclusions stay in force"))
		return
	}
	if n := len(list.Elements); n > maxPatterns {
		d.unsafe = true
		d.patterns = append(d.patterns, "**")
		d.report(v.StartOffset, "exclude", fmt.Sprintf("%d patterns are not accepted; it must be at most %d; every file is excluded now", n, maxPatterns))
		return
	}
	for i, e := range list.Elements {
		d.pattern(fmt.Sprintf("exclude[%d]", i), e)
	}
}

// pattern takes over one pattern or reports why not.
func (d *document) pattern(key string, v hujson.Value) {
	p, ok := toString(v.Value)
	problem := "it must be a string"
	if ok {
		problem = checkPattern(p)
	}
	if problem == "" {
		if !slices.Contains(d.patterns, p) {
			d.patterns = append(d.patterns, p)
		}
		return
	}
	d.unsafe = true
	d.report(v.StartOffset, key, fmt.Sprintf("%s is not accepted; %s; the other exclusions stay in force", d.show(v), problem))
}

// checkPattern says what is wrong with a pattern, or nothing.
func checkPattern(p string) string {
	switch {
	case strings.TrimSpace(p) == "":
		return "it must not be empty"
	case strings.HasPrefix(p, "!"):
		// doublestar would take it for a letter, a reader for "but not".
		return `an exclusion cannot be taken back with "!" (a name that starts with it is "\\!…")`
	case len(p) > maxPattern:
		return fmt.Sprintf("a pattern has at most %d bytes", maxPattern)
	case strings.ContainsRune(p, utf8.RuneError) || strings.ContainsRune(p, 0):
		return "it holds a character that no file name has"
	case !doublestar.ValidatePattern(fold(p)) || !doublestar.ValidatePattern(p):
		return `it is no valid pattern (is a "[" or "{" not closed, or a "\\" last?)`
	case !cleanPattern(p):
		return `no path has "." or ".." or nothing between two slashes, so it would never match`
	case alternatives(p) > maxAlternatives:
		return fmt.Sprintf("a pattern has at most %d alternatives in all", maxAlternatives)
	}
	return ""
}

// cleanPattern reports whether a cleaned path can match p: a pattern that
// silently never matches is a file that is not excluded.
func cleanPattern(p string) bool {
	p = strings.TrimPrefix(strings.TrimPrefix(p, "./"), "/")
	for part := range strings.SplitSeq(strings.TrimSuffix(p, "/"), "/") {
		if part == "." || part == ".." || part == "" && p != "" {
			return false
		}
	}
	return true
}

// alternatives is how many patterns without braces p stands for, or more.
func alternatives(p string) int {
	product, open := 1, []int(nil)
	for i := 0; i < len(p) && product <= maxAlternatives; i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			open = append(open, 1)
		case ',':
			if len(open) > 0 {
				open[len(open)-1]++
			}
		case '}':
			if len(open) > 0 {
				product *= open[len(open)-1]
				open = open[:len(open)-1]
			}
		}
	}
	return product
}

// excludeDefaults notes whether the defaults are to be dropped; the decision
// falls when all files are read.
func (d *document) excludeDefaults(v hujson.Value) {
	const key = "excludeDefaults"
	keep, ok := toBool(v.Value)
	switch {
	case !ok:
		d.unsafe = true
		d.report(v.StartOffset, key, d.wrong(v, "true or false", "the default exclusions stay in force"))
	case keep:
		d.dropDefaults = nil
	case !d.user:
		d.report(v.StartOffset, key, "a project cannot drop the default exclusions; only the user's own file can; it is ignored")
	default:
		line, column := position(d.text, v.StartOffset)
		d.dropDefaults = &Problem{d.name, line, column, key, ""}
	}
}

// finishExcludes puts the patterns in force together.
func (l *loader) finishExcludes() {
	if l.dropDefaults != nil && !l.unsafe {
		l.cfg.Exclude = l.patterns
		return
	}
	if p := l.dropDefaults; p != nil {
		p.Message = "the default exclusions stay in force, because other exclusions could not be read (see there)"
		l.problems = append(l.problems, *p)
	}
	for _, p := range l.patterns {
		if !slices.Contains(l.cfg.Exclude, p) {
			l.cfg.Exclude = append(l.cfg.Exclude, p)
		}
	}
}

// slash is the cleaned path with forward slashes.
func slash(name string) string {
	if name == "" {
		return ""
	}
	return filepath.ToSlash(filepath.Clean(name))
}

// fold maps names that differ in letter case only to one. Up and down again
// also joins the few letters with two lowercase forms (ſ and s), as a
// case-insensitive disk does. Invalid bytes become U+FFFD, which * matches.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// literal escapes what has a meaning in a pattern.
func literal(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(s)
}
