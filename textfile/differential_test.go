package textfile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plainAnswer is what the oracle should say, by our own Plain. Snapshots are
// loaded once per path.
func plainAnswer(t *testing.T, loaded map[string]*Snapshot, c readCase, d Dialect) oracleRead {
	t.Helper()
	s := loaded[c.Path]
	if s == nil {
		var err error
		if s, err = Load(t.Context(), c.Path, 64<<20); err != nil {
			t.Fatal(err)
		}
		loaded[c.Path] = s
	}
	r, err := Plain(s, c.Path, c.Offset, c.Limit, d)
	if err != nil {
		return oracleRead{Error: err.Error()}
	}
	return oracleRead{Text: digest(r.Text), Truncation: digestTruncation(r.Truncation)}
}

// Everything this package promises about pi, against the real pi: one process
// per line of pi for the whole batch.
func TestEqualsPi(t *testing.T) {
	for _, line := range piLines {
		t.Run(line.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cwd, home := pathTree(t)
			cuts, sizes := randomCuts()
			req := oracleRequest{
				Cwd:   cwd,
				Reads: append(edgeReads(t, dir), randomReads(t, dir, 700)...),
				Opens: append(pathCases(cwd, home), randomPaths(cwd, 4000)...),
				Cuts:  cuts, Sizes: sizes,
			}
			answer := line.ask(t, home, req)
			t.Run("read", func(t *testing.T) { comparePlain(t, req.Reads, answer.Reads, line.dialect) })
			t.Run("open", func(t *testing.T) { compareResolve(t, req, answer.Opens, home, line.dialect) })
			t.Run("cut", func(t *testing.T) { compareCuts(t, req.Cuts, answer.Cuts, line.dialect) })
			t.Run("size", func(t *testing.T) {
				for i, n := range req.Sizes {
					if got := formatSize(n); got != answer.Sizes[i] {
						t.Errorf("formatSize(%d) = %q, pi %q", n, got, answer.Sizes[i])
					}
				}
			})
		})
	}
}

func comparePlain(t *testing.T, cases []readCase, answers []oracleRead, d Dialect) {
	loaded := map[string]*Snapshot{}
	var cut, failed int
	for i, c := range cases {
		want := answers[i]
		if diff := cmp.Diff(want, plainAnswer(t, loaded, c, d)); diff != "" {
			t.Errorf("%v (-pi +deja):\n%s", c, diff)
		}
		if want.Truncation != nil {
			cut++
		}
		if want.Error != "" {
			failed++
		}
	}
	// The cases must reach both sides of each limit to mean anything.
	if cut < 100 || failed < 20 || len(cases)-cut-failed < 200 {
		t.Errorf("of %d reads %d were cut and %d failed: the mix is too thin", len(cases), cut, failed)
	}
}

// spec 2.1, 2.2, 2.7, 2.8
func compareResolve(t *testing.T, req oracleRequest, answers []string, home string, d Dialect) {
	found, variants := 0, 0
	for i, raw := range req.Opens {
		got := Resolve(raw, req.Cwd, home, d)
		if got != answers[i] {
			t.Errorf("Resolve(%q) = %q, pi opens %q", raw, got, answers[i])
		}
		if exists(got) {
			found++
		}
		if got != Lexical(raw, req.Cwd, home, d) {
			variants++
		}
	}
	if found < 500 || variants < 50 {
		t.Errorf("of %d paths %d exist and %d are variants: the mix is too thin", len(req.Opens), found, variants)
	}
}

// Small limits reach every corner of the cut, which whole files cannot.
func compareCuts(t *testing.T, cases []cutCase, answers []Truncation, d Dialect) {
	for i, c := range cases {
		d.MaxLines, d.MaxBytes = c.MaxLines, c.MaxBytes
		body, got := truncateHead([]byte(c.Content), d)
		want := answers[i]
		if want.Truncated != (got != nil) || string(body) != want.Content {
			t.Fatalf("%+v: kept %q, pi %+v", c, body, want)
		}
		if got == nil {
			continue
		}
		got.Content = string(body)
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Fatalf("%+v (-pi +deja):\n%s", c, diff)
		}
	}
}

func randomCuts() (cuts []cutCase, sizes []int) {
	rnd := rand.New(rand.NewPCG(7, 11))
	for range 4000 {
		var b strings.Builder
		for range rnd.IntN(12) {
			b.WriteString([]string{"\n", "\n", "a", "é", "€", "😀", "\r"}[rnd.IntN(7)])
		}
		cuts = append(cuts, cutCase{Content: b.String(), MaxLines: 1 + rnd.IntN(6), MaxBytes: 1 + rnd.IntN(14)})
	}
	for n := 0; n < 5<<20; n += 1 + rnd.IntN(2000) {
		sizes = append(sizes, n, n&^255)
	}
	return cuts, sizes
}

// edgeFiles are the files at pi's limits, and those with bytes that another tool
// would touch.
func edgeFiles() map[string]string {
	const kb50 = DefaultMaxBytes
	line := strings.Repeat("x", 99) + "\n"
	files := map[string]string{
		"empty": "", "newline": "\n", "newlines": "\n\n\n", "one": "one", "one-nl": "one\n",
		"two": "one\ntwo", "crlf": "a\r\nb\r\n\r\n", "cr": "a\rb\rc", "nul": "a\x00b\n\x00\n",
		"bom": "\ufeffone\ntwo\n", "bom-only": "\ufeff", "bom-inside": "one\n\ufefftwo\n",
		"separators": "a\u2028b\u2029c\u0085d\v\f\n", "emoji": "👩‍👩‍👧 é e\u0301\n\U0010ffff\ufffd\ufffe\n",
		"like-bmp": "BMW sold\n", "like-riff": "RIFF....WAVE\n", "like-gif": "GI\n", "like-id3": "ID\n",
		"many-empty": strings.Repeat("\n", 60_000),
	}
	for _, n := range []int{1999, 2000, 2001, 2002, 4000} {
		files[fmt.Sprintf("lines-%d-nl", n)] = strings.Repeat("l\n", n)
		files[fmt.Sprintf("lines-%d", n)] = strings.Repeat("l\n", n-1) + "l"
	}
	for _, n := range []int{kb50 - 1, kb50, kb50 + 1, kb50 + 2} {
		files[fmt.Sprintf("line-of-%d", n)] = strings.Repeat("x", n)
		files[fmt.Sprintf("line-of-%d-nl", n)] = strings.Repeat("x", n-1) + "\n"
		files[fmt.Sprintf("line-of-%d-and-nl", n)] = strings.Repeat("x", n) + "\n"
		files[fmt.Sprintf("line-of-%d-more", n)] = strings.Repeat("x", n) + "\nmore\n"
		files[fmt.Sprintf("bytes-%d", n)] = strings.Repeat(line, n/100) + strings.Repeat("y", n%100)
		files[fmt.Sprintf("bytes-%d-nl", n)] = strings.Repeat(line, n/100) + strings.Repeat("y", n%100-1+100) + "\n"
		// The limit falls inside a character of 2, 3 or 4 bytes.
		for _, char := range []string{"é", "€", "😀"} {
			for pad := range 4 {
				head := "head\n" + strings.Repeat("p", pad)
				files[fmt.Sprintf("wide-%d-%s-%d", n, char, pad)] = head + strings.Repeat(char, (n-len(head))/len(char)) + "\ntail"
			}
		}
	}
	// Sizes in the notice: ties of the rounding, the step to MB.
	for _, n := range []int{kb50 + 256, kb50 + 768, 1<<20 - 1, 1 << 20, 1<<20 + 1<<18, 1<<20 + 1<<19 + 1<<18} {
		files[fmt.Sprintf("long-%d", n)] = "short\n" + strings.Repeat("z", n) + "\nend\n"
	}
	return files
}

func edgeReads(t *testing.T, dir string) []readCase {
	t.Helper()
	var cases []readCase
	for name, content := range edgeFiles() {
		p := filepath.Join(dir, name)
		writeFile(t, p, content)
		total := strings.Count(content, "\n") + 1
		cases = append(cases,
			readCase{Path: p}, readCase{Path: p, Limit: ref(1)}, readCase{Path: p, Offset: ref(2)},
			readCase{Path: p, Offset: ref(total)}, readCase{Path: p, Offset: ref(total + 1)},
			readCase{Path: p, Offset: ref(total - 1), Limit: ref(2)}, readCase{Path: p, Limit: ref(total - 1)},
			readCase{Path: p, Limit: ref(total)}, readCase{Path: p, Offset: ref(2), Limit: ref(2000)},
		)
		if len(content) > 200 {
			continue
		}
		for _, offset := range []*int{nil, ref(-3), ref(0), ref(1), ref(2), ref(3)} {
			for _, limit := range []*int{nil, ref(-1 << 60), ref(-9), ref(-2), ref(-1), ref(0), ref(1), ref(2), ref(3), ref(1 << 53), ref(1 << 62)} {
				cases = append(cases, readCase{Path: p, Offset: offset, Limit: limit})
			}
		}
		cases = append(cases, readCase{Path: p, Offset: ref(1<<53 + 2)}, readCase{Path: p, Offset: ref(1<<62 + 12345)})
	}
	return cases
}

// randomReads writes files of many shapes and reads them at random places. The
// seed is fixed: a failure repeats.
func randomReads(t *testing.T, dir string, n int) []readCase {
	t.Helper()
	rnd := rand.New(rand.NewPCG(2000, 51200))
	var cases []readCase
	for len(cases) < n {
		p := filepath.Join(dir, fmt.Sprintf("random %d", len(cases)))
		content := randomText(rnd)
		writeFile(t, p, content)
		total := strings.Count(content, "\n") + 1
		for range 10 {
			c := readCase{Path: p}
			if rnd.IntN(4) > 0 {
				c.Offset = ref(rnd.IntN(total+total/10+3) - 1)
			}
			if rnd.IntN(2) > 0 {
				c.Limit = ref(rnd.IntN(total+3) - 1)
			}
			cases = append(cases, c)
		}
	}
	return cases
}

func randomText(rnd *rand.Rand) string {
	alphabet := []string{"a", "bc", " ", "\t", "\r", "é", "€", "😀", "\x00", "\ufeff", "word ", "{}"}
	lines, width := rnd.IntN(3500), 1+rnd.IntN(50)
	if rnd.IntN(2) == 0 {
		lines /= 50
	}
	var b strings.Builder
	for range lines {
		if rnd.IntN(500) == 0 {
			b.WriteString(strings.Repeat("€", rnd.IntN(25_000)))
		}
		for range rnd.IntN(width) {
			b.WriteString(alphabet[rnd.IntN(len(alphabet))])
		}
		b.WriteByte('\n')
	}
	if rnd.IntN(2) == 0 {
		b.WriteString("no final newline")
	}
	return b.String()
}

func ref(n int) *int { return &n }

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
