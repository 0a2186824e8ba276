package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A server is a read tool that claims only what is true, by a model as simple as can be: each line
// as it was seen last, and the text that was known as a whole last.
type server struct {
	chat  *chat
	disk  []string
	seen  map[int]string
	whole []string   // nil if none
	since [][]string // the versions of which lines were seen since whole
}

func lines(s string) []string { return strings.Split(s, "\n") }

// naiveDiff is one hunk around all that differs.
func naiveDiff(a, b []string) string {
	split := func(l []string) []string {
		out := strings.SplitAfter(strings.Join(l, "\n"), "\n")
		if out[len(out)-1] == "" {
			out = out[:len(out)-1]
		}
		return out
	}
	x, y := split(a), split(b)
	p := 0
	for p < len(x) && p < len(y) && x[p] == y[p] {
		p++
	}
	q := 0
	for q < len(x)-p && q < len(y)-p && x[len(x)-1-q] == y[len(y)-1-q] {
		q++
	}
	from, after := max(0, p-3), min(q, 3)
	var s strings.Builder
	head := func(n int) string {
		if n == 0 {
			return fmt.Sprintf("%d,0", from)
		}
		return fmt.Sprintf("%d,%d", from+1, n)
	}
	write := func(mark string, l []string) {
		for _, line := range l {
			s.WriteString(mark + line)
			if !strings.HasSuffix(line, "\n") {
				s.WriteString("\n" + noNewline)
			}
		}
	}
	fmt.Fprintf(&s, "[readcache: %d lines changed of %d]\n--- a/f\n+++ b/f\n", max(len(x)-p-q, len(y)-p-q), len(b))
	fmt.Fprintf(&s, "@@ -%s +%s @@\n", head(len(x)-q+after-from), head(len(y)-q+after-from))
	write(" ", x[from:p])
	write("-", x[p:len(x)-q])
	write("+", y[p:len(y)-q])
	write(" ", y[len(y)-q:len(y)-q+after])
	return s.String()
}

// read answers one read, with a claim wherever one is true.
func (s *server) read(t *rapid.T) {
	n := len(s.disk)
	content := strings.Join(s.disk, "\n")
	if rapid.Bool().Draw(t, "all") {
		text := content
		if s.knows(1, n) {
			text = fmt.Sprintf("[readcache: unchanged, %d lines]", n)
		} else if s.whole != nil && !s.stale() {
			text = naiveDiff(s.whole, s.disk)
		}
		s.chat.read(content, text)
		s.saw(1, n)
		return
	}
	a := rapid.IntRange(1, n).Draw(t, "from")
	limit := rapid.IntRange(1, n+1).Draw(t, "limit")
	b := min(a+limit-1, n)
	text := cut(content, a, b)
	if s.knows(a, b) {
		text = fmt.Sprintf("[readcache: unchanged in lines %d-%d of %d]", a, b, n)
		if (a > 1 || b < n) && rapid.Bool().Draw(t, "elsewhere") {
			text = fmt.Sprintf("[readcache: unchanged in lines %d-%d; changes exist outside this range]", a, b)
		}
	} else if s.knows(a, a) && b > a && rapid.Bool().Draw(t, "stop early") {
		text = fmt.Sprintf("[readcache: unchanged in lines %d-%d of %d]\n\n[%d more lines in file. Use offset=%d to continue.]", a, a, n, n-a, a+1)
		b = a
	}
	if rapid.Bool().Draw(t, "suffix") && a+limit-1 >= 1 {
		s.chat.read(content, text, fmt.Sprintf("f:%d-%d", a, a+limit-1))
	} else {
		s.chat.read(content, text, "f", a, limit)
	}
	s.saw(a, b)
}

func (s *server) knows(a, b int) bool {
	for i := a; i <= b; i++ {
		if was, ok := s.seen[i]; !ok || was != s.disk[i-1] {
			return false
		}
	}
	return true
}

func (s *server) stale() bool {
	return slices.ContainsFunc(s.since, func(v []string) bool { return !slices.Equal(v, s.disk) })
}

func (s *server) saw(a, b int) {
	if a == 1 && b == len(s.disk) {
		s.seen, s.since, s.whole = map[int]string{}, nil, slices.Clone(s.disk)
	} else {
		s.since = append(s.since, slices.Clone(s.disk))
	}
	for i := a; i <= b; i++ {
		s.seen[i] = s.disk[i-1]
	}
}

// change edits the file from outside.
func (s *server) change(t *rapid.T) {
	s.disk = slices.Clone(s.disk)
	at := rapid.IntRange(0, len(s.disk)-1).Draw(t, "at")
	line := rapid.SampledFrom([]string{"", "a", "b", "a\r", "[3 more lines in file. Use offset=3 to continue.]", "[readcache: unchanged, 1 lines]", "--- a/f", "@@ -1,1 +1,1 @@", "é"}).Draw(t, "line")
	switch rapid.IntRange(0, 3).Draw(t, "change") {
	case 0:
		s.disk = slices.Insert(s.disk, at, line)
	case 1:
		if len(s.disk) > 1 {
			s.disk = slices.Delete(s.disk, at, at+1)
		}
	default:
		s.disk[at] = line
	}
}

func play(t *rapid.T) *server {
	s := &server{chat: newChat(), disk: lines(file(rapid.IntRange(1, 12).Draw(t, "lines"))), seen: map[int]string{}}
	for range rapid.IntRange(2, 14).Draw(t, "steps") {
		if rapid.IntRange(0, 3).Draw(t, "step") == 0 {
			s.change(t)
		} else {
			s.read(t)
		}
	}
	return s
}

// spec 1.1: what an honest server claims is always proven.
func TestHonestIsProven(t *testing.T) {
	claims := map[Kind]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := play(t)
		for _, v := range s.chat.Judge(s.chat.contents) {
			claims[v.Kind]++
			if v.State != Proven {
				t.Fatalf("%v\nin %s", v, s.chat.openAI())
			}
		}
		// Without the contents nothing of it can be found false.
		for _, v := range s.chat.Judge(nil) {
			if v.State == Proven {
				t.Fatalf("proven without contents: %v", v)
			}
		}
	})
	for _, k := range []Kind{Unchanged, UnchangedLines, Elsewhere, Diff} {
		if claims[k] == 0 {
			t.Errorf("no claim of kind %v was made: %v", k, claims)
		}
	}
	t.Log(claims)
}

// spec 1.1: with one thing changed in an honest conversation, the claim is false: the disk, the
// claim's text, or the model's having seen anything.
func TestMutantIsFalse(t *testing.T) {
	found := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := play(t)
		verdicts := s.chat.Judge(s.chat.contents)
		if len(verdicts) == 0 {
			return
		}
		v := verdicts[rapid.IntRange(0, len(verdicts)-1).Draw(t, "claim")]
		f := s.chat.files[v.CallID]
		disk := lines(string(f.Bytes))
		at := slices.IndexFunc(s.chat.Steps, func(x Step) bool { return x.Result != nil && x.Result.ID == v.CallID })
		kind := rapid.SampledFrom([]string{"disk", "longer", "text", "unseen", "range", "redacted"}).Draw(t, "mutation")
		switch kind {
		case "disk":
			disk[rapid.IntRange(v.Start, v.End).Draw(t, "line")-1] += " changed"
		case "longer":
			if v.Kind == Elsewhere {
				return // the claim does not say how long the file is
			}
			disk = append(disk, "more")
		case "text":
			text := s.chat.Steps[at].Result.Text
			s.chat.Steps[at].Result.Text = strings.Replace(text, " lines", "  lines", 1)
			if v.Kind == Diff {
				s.chat.Steps[at].Result.Text = strings.Replace(text, "@@ -", "@@ -1", 1)
			}
		case "range":
			if v.Kind != Elsewhere && v.Kind != UnchangedLines {
				return
			}
			old := fmt.Sprintf("lines %d-%d", v.Start, v.End)
			s.chat.Steps[at].Result.Text = strings.Replace(v.Claim, old, fmt.Sprintf("lines %d-%d", v.Start+1, v.End+1), 1)
		case "unseen":
			s.chat.Steps = s.chat.Steps[at-1:]
		case "redacted":
			for _, x := range s.chat.Steps[:at] {
				if x.Result != nil {
					x.Result.Text = "[redacted]"
				}
			}
		}
		f.Bytes = []byte(strings.Join(disk, "\n"))
		s.chat.files[v.CallID] = f
		for _, now := range s.chat.Judge(s.chat.contents) {
			if now.CallID != v.CallID {
				continue
			}
			if now.State != False || now.Reason == "" {
				t.Fatalf("%s: %v, was %v\nin %s", kind, now, v, s.chat.openAI())
			}
			found[kind]++
		}
	})
	for _, kind := range []string{"disk", "longer", "text", "unseen", "range", "redacted"} {
		if found[kind] == 0 {
			t.Errorf("no mutation %q: %v", kind, found)
		}
	}
	t.Log(found)
}

// spec 1.1: proven means that the last sight of each line gives the file. Here that is checked by
// a reader of the oracle's own words: no claim is proven whose lines were not all in results.
func TestProvenTextWasShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := play(t)
		n := 0
		for _, st := range s.chat.Steps { // lose some results
			if st.Result != nil && rapid.IntRange(0, 3).Draw(t, "lose") == 0 {
				st.Result.Text = "Operation aborted"
				n++
			}
		}
		shown := map[string]bool{}
		for _, st := range s.chat.Steps {
			if st.Result == nil {
				continue
			}
			for _, v := range s.chat.Judge(s.chat.contents) {
				if v.CallID != st.Result.ID || v.State != Proven || v.Kind == Diff {
					continue
				}
				for i := v.Start; i <= v.End; i++ {
					if line := lines(string(s.chat.files[v.CallID].Bytes))[i-1]; !shown[line] {
						t.Fatalf("%v: line %d %q was in no result\nin %s", v, i, line, s.chat.openAI())
					}
				}
			}
			for _, line := range lines(st.Result.Text) {
				shown[line] = true
				shown[strings.TrimLeft(line, "+")] = true
				if line != "" {
					shown[line[1:]] = true
				}
			}
			if empty(st.Result.Text) {
				shown[""] = true
			}
		}
	})
}
