package linediff

import "testing"

func FuzzRoundTrip(f *testing.F) {
	for _, c := range goldens {
		f.Add([]byte(c.base), []byte(c.current))
	}
	f.Add([]byte("\ufeffa\r\nb\r"), []byte("a\n\x00\nb\r\n"))
	f.Add([]byte("a\na\na\nb\na\na\n"), []byte("a\nb\nb\na"))
	f.Fuzz(func(t *testing.T, base, current []byte) {
		roundTrip(t, base, current)
	})
}

func FuzzApply(f *testing.F) {
	for _, c := range goldens {
		f.Add([]byte(c.base), header[:len(header)-1]+c.want)
	}
	f.Add([]byte("a\n"), header+"@@ -1,1 +1,536870912 @@\n-a\n")
	f.Add([]byte("a"), header+"@@ -1,0 +2,1 @@\n+b\n")
	f.Fuzz(func(t *testing.T, base []byte, diff string) {
		appliesFaithfully(t, base, diff)
	})
}
