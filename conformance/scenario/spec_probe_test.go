package scenario

import (
	"context"
	"fmt"
	"os"
	"testing"
)

func TestProbe(t *testing.T) {
	play(t, func(s *stage) {
		text := numbered(100)
		s.write("a.txt", text)
		fmt.Println(s.read("a.txt", 10, 3))
		s.read("a.txt")
		s.replace("a.txt", "line 50 ", "LINE 50 ")
		fmt.Printf("%q\n", s.read("a.txt"))
		_, err := s.Compact(context.Background())
		fmt.Println("compact", err)
		f, _ := s.SessionFile(context.Background())
		b, _ := os.ReadFile(f)
		fmt.Println(f)
		fmt.Println(string(b))
		r := s.Model().Since(0)
		fmt.Printf("%.6000s\n", r[0].Raw)
	})
}
