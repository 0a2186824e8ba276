package textfile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// modelPlain is pi's read written down as naively as it goes, for small numbers:
// the slow twin of Plain for machines without pi, and for limits that pi itself
// cannot be given. TestEqualsPi ties Plain, and so the model, to the real pi.
func modelPlain(content, pathArg string, offset, limit *int, d Dialect) (text string, delivered []string, err string) {
	all := strings.Split(content, "\n")
	start := 0
	if offset != nil && *offset > 0 {
		start = *offset - 1
	}
	if start >= len(all) {
		return "", nil, fmt.Sprintf("Offset %d is beyond end of file (%d lines total)", *offset, len(all))
	}
	end, selected := len(all), all[start:]
	if limit != nil {
		end = min(start+*limit, len(all))
		to := end
		if to < 0 {
			to = max(len(all)+to, 0)
		}
		selected = all[start:max(to, start)]
	}
	body := strings.Join(selected, "\n")
	counted := strings.Split(body, "\n")
	if d.FinalNewline == Terminator {
		if body == "" {
			counted = nil
		} else if strings.HasSuffix(body, "\n") {
			counted = counted[:len(counted)-1]
		}
	}
	if len(counted) <= d.MaxLines && len(body) <= d.MaxBytes {
		if limit != nil && end < len(all) {
			return fmt.Sprintf("%s\n\n[%d more lines in file. Use offset=%d to continue.]", body, len(all)-end, end+1), selected, ""
		}
		return body, selected, ""
	}
	if len(counted[0]) > d.MaxBytes {
		return fmt.Sprintf("[Line %d is %s, exceeds %s limit. Use bash: sed -n '%dp' %s | head -c %d]",
			start+1, formatSize(len(all[start])), formatSize(d.MaxBytes), start+1, pathArg, d.MaxBytes), nil, ""
	}
	kept, why := 0, ""
	for kept < len(counted) && kept < d.MaxLines {
		if len(strings.Join(counted[:kept+1], "\n")) > d.MaxBytes {
			why = fmt.Sprintf(" (%s limit)", formatSize(d.MaxBytes))
			break
		}
		kept++
	}
	return fmt.Sprintf("%s\n\n[Showing lines %d-%d of %d%s. Use offset=%d to continue.]",
		strings.Join(counted[:kept], "\n"), start+1, start+kept, len(all), why, start+kept+1), counted[:kept], ""
}

// checkPlain compares Plain with the model and checks what its fields promise.
func checkPlain(t interface {
	Fatalf(string, ...any)
	Helper()
}, content string, offset, limit *int, d Dialect,
) {
	t.Helper()
	s, err := NewSnapshot("file", []byte(content))
	if err != nil {
		return
	}
	text, delivered, failure := modelPlain(content, "the path", offset, limit, d)
	r, err := Plain(s, "the path", offset, limit, d)
	if err != nil || failure != "" {
		if err == nil || err.Error() != failure {
			t.Fatalf("Plain: error %v, model %q", err, failure)
		}
		return
	}
	if diff := cmp.Diff(text, r.Text); diff != "" {
		t.Fatalf("Plain text (-model +got):\n%s", diff)
	}
	body := strings.Join(delivered, "\n")
	switch {
	case r.End-r.Start+1 != len(delivered):
		t.Fatalf("lines %d-%d claimed, %d delivered", r.Start, r.End, len(delivered))
	case r.Text != body+r.Notice || string(s.Slice(r.Start, r.End)) != body:
		t.Fatalf("%+v is not its lines and its notice", r)
	case len(body) > d.MaxBytes || len(delivered) > d.MaxLines+1:
		t.Fatalf("%d lines, %d bytes pass the limits", len(delivered), len(body))
	case r.Cut != (r.Truncation != nil) || r.Cut && r.Truncation.Content != body:
		t.Fatalf("cut %v, truncation %+v", r.Cut, r.Truncation)
	case r.End > r.AskedEnd || !r.Cut && r.End != r.AskedEnd || r.AskedEnd > r.Total || r.Total != s.Total():
		t.Fatalf("line numbers of %+v", r)
	case r.Next != 0 && !strings.Contains(r.Notice, fmt.Sprintf("Use offset=%d to continue.", r.Next)):
		t.Fatalf("next %d is not in %q", r.Next, r.Notice)
	case r.Next == 0 && strings.Contains(r.Notice, "Use offset=") && (limit == nil || *limit >= 0):
		t.Fatalf("next is missing for %q", r.Notice)
	}
}

func TestPlainEqualsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"\n", "\n", "\n", "a", "bcd", "é", "😀", "\r", "\x00", "\ufeff"}), 0, 40)
		number := rapid.Ptr(rapid.IntRange(-4, 24), true)
		checkPlain(t, strings.Join(pieces.Draw(t, "content"), ""),
			number.Draw(t, "offset"), number.Draw(t, "limit"),
			Dialect{
				MaxLines:     rapid.IntRange(1, 12).Draw(t, "max lines"),
				MaxBytes:     rapid.IntRange(1, 30).Draw(t, "max bytes"),
				FinalNewline: rapid.SampledFrom([]FinalNewline{Separator, Terminator}).Draw(t, "final newline"),
			})
	})
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte("a\nb\n"), 0, 0, uint8(0), uint16(2000), uint16(51200), false)
	f.Add([]byte("long line\nb\n"), 1, 2, uint8(3), uint16(1), uint16(4), true)
	f.Add([]byte("a\xffb"), 0, 0, uint8(0), uint16(1), uint16(1), true)
	f.Add([]byte("\xef\xbb\xbfa\r\n\x00\n\n"), -3, -2, uint8(3), uint16(3), uint16(6), true)
	f.Fuzz(func(t *testing.T, content []byte, offset, limit int, given uint8, maxLines, maxBytes uint16, newer bool) {
		// Numbers above 2^53 are for TestEqualsPi: the model does not round.
		const exact = 1 << 40
		d := Dialect{MaxLines: int(maxLines) + 1, MaxBytes: int(maxBytes) + 1}
		if newer {
			d.FinalNewline = Terminator
		}
		var o, l *int
		if given&1 != 0 {
			o = ref(offset % exact)
		}
		if given&2 != 0 {
			l = ref(limit % exact)
		}
		checkPlain(t, string(content), o, l, d)
	})
}

// Slice and Total against split("\n"), across the steps of the line index.
func TestSliceEqualsSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "two words", "é\r"}), 1, 4).Draw(t, "lines")
		repeat := rapid.SampledFrom([]int{1, 2, indexStep / 2, indexStep - 1, indexStep, indexStep + 1, 3*indexStep + 7}).Draw(t, "repeat")
		content := strings.Repeat(strings.Join(lines, "\n"), repeat)
		s, err := NewSnapshot("file", []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Split(content, "\n")
		if s.Total() != len(all) {
			t.Fatalf("Total = %d, want %d", s.Total(), len(all))
		}
		for range 5 {
			start := rapid.IntRange(1, len(all)).Draw(t, "start")
			end := rapid.IntRange(start, len(all)).Draw(t, "end")
			if got, want := s.Slice(start, end), []byte(strings.Join(all[start-1:end], "\n")); !bytes.Equal(got, want) {
				t.Fatalf("Slice(%d, %d) = %q, want %q", start, end, got, want)
			}
		}
	})
}
