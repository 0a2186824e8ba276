package textfile

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
)

func TestNewSnapshotRefuses(t *testing.T) {
	for name, content := range map[string]string{
		"stray byte": "a\xffb", "latin-1": "caf\xe9\n", "cut character": "a\xe2\x82", "lone continuation": "\x80",
		"overlong slash": "\xc0\xaf", "overlong NUL": "\xc0\x80", "overlong 3": "\xe0\x80\xaf", "overlong 4": "\xf0\x80\x80\xaf",
		"high surrogate": "\xed\xa0\x80", "surrogate pair": "\xed\xa0\xbd\xed\xb8\x80",
		"above U+10FFFF": "\xf4\x90\x80\x80", "5 bytes": "\xf8\x88\x80\x80\x80", "UTF-16": "\xff\xfea\x00",
		// Valid UTF-8 that a line of pi would show as a picture.
		"gif": "GIF89a text", "gif 0.73": "GIF is a format\n", "gif after BOMs": "\ufeff\ufeffGIF", "webp": "RIFF1234WEBPVP8 ",
		"id3": "ID3\x03\x00\x00\x00\x00\x00\x02..GIF", "bmp": "BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00",
	} {
		if _, err := NewSnapshot("p", []byte(content)); !errors.Is(err, ErrNotText) {
			t.Errorf("%s: error %v, want ErrNotText", name, err)
		}
	}
	for _, content := range []string{"", "\x00", "\ufeff", "BM", "BMW\n" + strings.Repeat("x", 40) + "\x00", "RIFF", "RIFF1234WAVE", "GI", "ID", "\ufffd\U0010ffff"} {
		if _, err := NewSnapshot("p", []byte(content)); err != nil {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func TestSnapshot(t *testing.T) {
	const content = "\ufeffone\r\n\x00\n"
	s, err := NewSnapshot("some/path", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	if s.Path() != "some/path" || string(s.Bytes()) != content || s.Total() != 3 {
		t.Errorf("path %q, bytes %q, total %d", s.Path(), s.Bytes(), s.Total())
	}
	// Computed with sha256sum.
	if got, want := s.Hash(), "fe256a47370a7f5b6df325b15b60977da286306ec8e8818fdd2f9aca510b3a0e"; got != want {
		t.Errorf("Hash = %s, want %s", got, want)
	}
	empty, err := NewSnapshot("", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := empty.Hash(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; got != want || empty.Total() != 1 {
		t.Errorf("empty: hash %s, total %d", got, empty.Total())
	}
	for _, c := range []struct {
		start, end int
		want       string
	}{
		{1, 1, "\ufeffone\r"},
		{2, 2, "\x00"},
		{3, 3, ""},
		{1, 3, content},
		{2, 3, "\x00\n"},
		{-5, 99, content},
		{math.MinInt, math.MaxInt, content},
		{3, 2, ""},
		{4, 9, ""},
		{0, 0, ""},
	} {
		if got := string(s.Slice(c.start, c.end)); got != c.want {
			t.Errorf("Slice(%d, %d) = %q, want %q", c.start, c.end, got, c.want)
		}
	}
	// Appending to what was handed out must not write into the snapshot.
	_ = append(s.Slice(1, 1), "XX"...)
	_ = append(s.Bytes()[:], "XX"...)
	if string(s.Bytes()) != content {
		t.Errorf("content is now %q", s.Bytes())
	}
}

func TestSnapshotConcurrentUse(t *testing.T) {
	s, err := NewSnapshot("p", []byte(strings.Repeat("line\n", 5*indexStep)))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if got := string(s.Slice(indexStep*i/2+1, indexStep*i/2+1)); got != "line" || len(s.Hash()) != 64 {
				t.Errorf("line %q, hash %q", got, s.Hash())
			}
		})
	}
	group.Wait()
}

func TestOffsetError(t *testing.T) {
	s, err := NewSnapshot("p", []byte("a\nb"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Plain(s, "p", ref(3), nil, Pi087)
	var bad *OffsetError
	if !errors.As(err, &bad) || *bad != (OffsetError{Offset: 3, Total: 2}) || err.Error() != "Offset 3 is beyond end of file (2 lines total)" {
		t.Errorf("error %v", err)
	}
	if _, err := Plain(s, "p", ref(math.MinInt), ref(math.MaxInt), Pi087); err != nil {
		t.Error(err)
	}
	if r, err := Plain(s, "p", ref(2), ref(math.MinInt), Pi087); err != nil || r.End != 1 || r.Next != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The zero value of a limit is pi's own limit, not "nothing".
func TestZeroDialect(t *testing.T) {
	s, err := NewSnapshot("p", []byte(strings.Repeat("x\n", 2000)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Plain(s, "p", nil, nil, Dialect{})
	want, err2 := Plain(s, "p", nil, nil, Pi073)
	if err != nil || err2 != nil || got.Text != want.Text || got.End != 2000 {
		t.Errorf("End %d, errors %v, %v", got.End, err, err2)
	}
}

// The decision "unchanged" needs a snapshot, its hash and its line count.
func BenchmarkUnchanged(b *testing.B) {
	for _, lines := range []int{300, 12_000, 2_500_000} {
		content := []byte(strings.Repeat("some words of a line of source code ≠\n", lines))
		b.Run(fmt.Sprint(lines, " lines"), func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				s, err := NewSnapshot("p", content)
				if err != nil || s.Total() != lines+1 || len(s.Hash()) != 64 {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPlain(b *testing.B) {
	for _, lines := range []int{300, 2_500_000} {
		s, err := NewSnapshot("p", []byte(strings.Repeat("some words of a line of source code\n", lines)))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(lines, " lines"), func(b *testing.B) {
			for b.Loop() {
				if _, err := Plain(s, "p", ref(lines/2), ref(500), Pi087); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
