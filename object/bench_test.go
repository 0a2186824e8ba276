package object

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
)

var benchSizes = []int{1 << 10, 32 << 10, 1 << 20}

func benchContent(b *testing.B, size int) []byte {
	b.Helper()
	content := make([]byte, size)
	if _, err := rand.Read(content); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size))
	return content
}

func BenchmarkPutNew(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := newStore(b)
			content := benchContent(b, size)
			mustPut(b, s, "makes the folders")
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				copy(content, fmt.Sprintf("%020d", i))
				hash := Sum(content)
				b.StartTimer()
				if err := s.Put(context.Background(), hash, content); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPutExisting(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := newStore(b)
			content := benchContent(b, size)
			hash := mustPut(b, s, string(content))
			for b.Loop() {
				if err := s.Put(context.Background(), hash, content); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := newStore(b)
			hash := mustPut(b, s, string(benchContent(b, size)))
			for b.Loop() {
				if _, err := s.Get(context.Background(), hash); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
