package textfile

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// fileURLPath is Node's fileURLToPath on POSIX for a string that starts with
// "file://". It says false where Node throws: a host, an encoded slash, or bad
// percent encoding. A host that only international domain rules turn into
// "localhost" is refused too, which costs a plain read.
//
// net/url is not used to parse: the URL standard that browsers and Node follow
// takes backslashes for slashes, drops tabs and newlines, resolves dot segments
// even when encoded, and treats drive letters apart, and net/url does none of it.
func fileURLPath(raw string) (string, bool) {
	raw = strings.TrimRightFunc(raw, func(r rune) bool { return r <= ' ' })
	raw = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, raw)
	rest := raw[len("file://"):]
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = strings.ReplaceAll(rest, `\`, "/")

	host, urlPath, _ := strings.Cut(rest, "/")
	if isDriveLetter(host) {
		urlPath = rest // "file://C:/x" has no host
	} else if decoded, err := url.PathUnescape(host); err != nil || (decoded != "" && !strings.EqualFold(decoded, "localhost")) {
		return "", false
	}
	p := "/" + strings.Join(resolveSegments(strings.Split(urlPath, "/")), "/")
	if strings.Contains(strings.ToLower(p), "%2f") {
		return "", false
	}
	decoded, err := url.PathUnescape(p)
	if err != nil || !utf8.ValidString(decoded) {
		return "", false
	}
	return decoded, true
}

// resolveSegments removes the dot segments of a URL path as the URL standard
// does. A dot segment at the end leaves an empty one.
func resolveSegments(segments []string) []string {
	var out []string
	for i, segment := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case "..":
			// A drive letter is a root that is not left.
			if n := len(out); n > 1 || n == 1 && !isNormalDriveLetter(out[0]) {
				out = out[:n-1]
			}
			if last {
				out = append(out, "")
			}
		case ".":
			if last {
				out = append(out, "")
			}
		default:
			if len(out) == 0 && isDriveLetter(segment) {
				segment = segment[:1] + ":"
			}
			out = append(out, segment)
		}
	}
	return out
}

func isDriveLetter(s string) bool {
	return len(s) == 2 && (s[1] == ':' || s[1] == '|') && ('a' <= s[0]|0x20 && s[0]|0x20 <= 'z')
}

func isNormalDriveLetter(s string) bool { return isDriveLetter(s) && s[1] == ':' }
