package textfile

import (
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// pathTree makes a home and a working folder with the names that the path rules
// are about, and returns them. The names are short so that random paths hit them.
func pathTree(t *testing.T) (cwd, home string) {
	t.Helper()
	root := t.TempDir()
	cwd, home = filepath.Join(root, "cwd"), filepath.Join(root, "home")
	for _, name := range []string{
		"cwd/a", "cwd/@a", "cwd/~", "cwd/d/a", "cwd/x y", "cwd/a:3", "cwd/%41", "cwd/file:/a",
		"home/a", "home/x y", "home/d/a", "else/a", "else/deep/a", "a",
		"cwd/Shot 9.41.00\u202fAM.png.txt", "cwd/shot\u202fpm.txt", // macOS before AM/PM
		"cwd/cafe\u0301.txt",                                  // NFD
		"cwd/it\u2019s",                                       // curly
		"cwd/l\u2019e\u0301te\u0301.txt",                      // NFD and curly
		"cwd/d'e\u0301",                                       // NFD, and the apostrophe as typed
		"cwd/p'e\u0301", "cwd/p\u2019é", "cwd/p\u2019e\u0301", // NFD comes first
		"cwd/q\u2019é", "cwd/q\u2019e\u0301", // then the curly quote alone
		"cwd/both\u202fAM.l\u2019x",       // a combination pi does not try
		"cwd/plain AM.txt", "cwd/o'clock", // no variant needed
		"home/cafe\u0301.txt", "home/it\u2019s",
	} {
		writeFile(t, filepath.Join(root, filepath.FromSlash(name)), name)
	}
	for link, to := range map[string]string{
		"cwd/link": "../else/deep", "cwd/dangling": "nowhere", "cwd/self": "self", "cwd/to-a": "a",
	} {
		if err := os.Symlink(to, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	return cwd, home
}

// pathCases are the path arguments of spec 2.1 and 2.2, written for cwd and home.
func pathCases(cwd, home string) []string {
	cases := []string{
		"", ".", "..", "/", "a", "./a", "d/../a", "missing", "missing/../a", "../else/a", "a/", "d/", "d//a", "a\x00", "\x00",
		"@", "@a", "@@a", "@~", "@~/a", "@@~/a", "@" + cwd + "/a", "@./a", "@d/a", "@file://" + cwd + "/a", " @a", "\u00a0@a", "@\u00a0a",
		"~", "~/", "~/a", "~//a", "~/d/../a", "~/../else/a", "~/missing", "~a", "~root/a", "/~/a", "./~", "d/~", "~\u00a0/a", "~/x\u00a0y", "~/cafe\u0301.txt", "~/café.txt", "~/it's", "~\\a",
		"x y", "x\u00a0y", "x\u2000y", "x\u200ay", "x\u200by", "x\u202fy", "x\u205fy", "x\u3000y", "x\u1680y", "x\ty", "x\u2007y",
		"Shot 9.41.00 AM.png.txt", "Shot 9.41.00\u202fAM.png.txt", "Shot 9.41.00 am.png.txt", "shot pm.txt", "shot\u00a0pm.txt", "plain AM.txt",
		"café.txt", "cafe\u0301.txt", "it's", "it’s", "l'été.txt", "l’été.txt", "l'e\u0301te\u0301.txt", "both AM.l'x", "o'clock", "o’clock", "d'é", "p'é", "q'é",
		"link/a", "link/../a", "link/../missing", "dangling", "dangling/../a", "self", "to-a", "to-a/../a",
		"file://" + cwd + "/a", "file://localhost" + cwd + "/a", "file://LOCALHOST" + cwd + "/a", "file://host" + cwd + "/a",
		"file:" + cwd + "/a", "FILE://" + cwd + "/a", "file:///", "file://", "file:///a", "file://./a", "file://~/a", "file://C:/a", "file:///C|/../a",
		"file://" + cwd + "/%61", "file://" + cwd + "/x%20y", "file://" + cwd + "/x y", "file://" + cwd + "/caf%C3%A9.txt", "file://" + cwd + "/café.txt",
		"file://" + cwd + "/d%2Fa", "file://" + cwd + "/%zz", "file://" + cwd + "/%E9", "file://" + cwd + "/%2541", "file://" + cwd + "/%00", "file://" + cwd + "/a?b#c", "file://" + cwd + "/%2e%2E/else/a", "file://" + cwd + "/d\\a", "file://" + cwd + "/a \n",
	}
	for _, base := range []string{cwd, home} {
		for _, rest := range []string{"/a", "//a", "/./a", "/d/../a", "/link/../a", "/dangling/../a", "/a/../a", "/x\u00a0y", "/café.txt", "/it's", "/", "", "/d/", "/../else/a"} {
			cases = append(cases, base+rest, "/"+base+rest)
		}
	}
	return cases
}

// randomPaths puts pieces together that the rules look at.
func randomPaths(cwd string, n int) []string {
	rnd := rand.New(rand.NewPCG(5, 1))
	pieces := []string{
		"a", "d", "x y", "x\u00a0y", "café.txt", "it's", "shot pm.txt", "link", "/", "/", "/", "/", "..", ".", "@", "~", "\u202f", " ",
		"missing", "else", "home", "cwd", ":", "3", "é", "'",
	}
	urlPieces := append([]string{
		"\\", "%2e", "%2E%2e", "C:", "c|", "z:", "%20", "%41", "%C3%A9", "%zz", "%", "%2F", "%5c", "?q", "#f", "localhost", "LocalHost",
		"%6cocalhost", "\t", "\n", "\r", "+", "|", "\x01", "&", "[", "\"", "%00", "😀", "\x7f",
	}, pieces...)
	var out []string
	for i := range n {
		var b strings.Builder
		from := pieces
		switch i % 4 {
		case 1:
			b.WriteString(cwd + "/")
		case 2, 3:
			b.WriteString("file://")
			from = urlPieces
			if rnd.IntN(3) > 0 {
				b.WriteString("/")
			}
			if rnd.IntN(3) > 0 {
				b.WriteString(cwd + "/")
			}
		}
		for range rnd.IntN(7) {
			b.WriteString(from[rnd.IntN(len(from))])
		}
		out = append(out, b.String())
	}
	return out
}

// spec 2.1, 2.2, for machines without pi: the rules that matter most, by hand.
func TestResolve(t *testing.T) {
	cwd, home := pathTree(t)
	both := map[string]string{
		"a": cwd + "/a", "@a": cwd + "/a", "~/a": home + "/a", "@~/a": home + "/a", "~": home,
		"x\u00a0y": cwd + "/x y", "link/../a": cwd + "/a", "": cwd, "../else/a": path.Dir(cwd) + "/else/a",
		"shot pm.txt": cwd + "/shot\u202fpm.txt", "café.txt": cwd + "/cafe\u0301.txt",
		"it's": cwd + "/it\u2019s", "l'été.txt": cwd + "/l\u2019e\u0301te\u0301.txt",
		"d'é": cwd + "/d'e\u0301", "p'é": cwd + "/p'e\u0301", "q'é": cwd + "/q\u2019é",
		"missing": cwd + "/missing", "both AM.l'x": cwd + "/both AM.l'x",
	}
	for raw, want := range both {
		for _, d := range []Dialect{Pi073, Pi087} {
			if got := Resolve(raw, cwd, home, d); got != want {
				t.Errorf("Resolve(%q, %+v) = %q, want %q", raw, d, got, want)
			}
		}
	}
	for _, c := range []struct{ raw, pi073, pi087 string }{
		{cwd + "/link/../a", cwd + "/link/../a", cwd + "/a"},
		{"~/d/../a", home + "/d/../a", home + "/a"},
		{"file://" + cwd + "/x%20y", cwd + "/file:" + cwd + "/x%20y", cwd + "/x y"},
		{"file://host/a", cwd + "/file:/host/a", ""},
	} {
		if got := Resolve(c.raw, cwd, home, Pi073); got != c.pi073 {
			t.Errorf("0.73: Resolve(%q) = %q, want %q", c.raw, got, c.pi073)
		}
		if got := Resolve(c.raw, cwd, home, Pi087); got != c.pi087 {
			t.Errorf("0.87: Resolve(%q) = %q, want %q", c.raw, got, c.pi087)
		}
	}
	// Lexical does not look.
	if got, want := Lexical("café.txt", cwd, home, Pi087), cwd+"/café.txt"; got != want {
		t.Errorf("Lexical = %q, want %q", got, want)
	}
	// Never a path that depends on the folder of our own process.
	for _, d := range []Dialect{Pi073, Pi087} {
		if got := Resolve("path_test.go", ".", home, d); got != "" {
			t.Errorf("Resolve with a relative cwd = %q", got)
		}
		if got := Resolve("~/x", "", "", d); got != "" && got[0] != '/' {
			t.Errorf("Resolve without home and cwd = %q", got)
		}
	}
}
