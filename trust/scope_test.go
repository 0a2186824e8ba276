package trust

import (
	"math"
	"strconv"
	"testing"
)

// spec 3.2: a scope key is "full" or "r:<start>:<end>" and nothing else.
func TestParseScope(t *testing.T) {
	good := map[string]Scope{
		"full": Full, "r:1:1": Lines(1, 1), "r:10:20": Lines(10, 20),
		"r:1:" + strconv.Itoa(math.MaxInt): Lines(1, math.MaxInt),
	}
	for key, want := range good {
		if got, err := ParseScope(key); err != nil || got != want || got.String() != key {
			t.Errorf("ParseScope(%q) = %v, %v", key, got, err)
		}
	}
	bad := []string{
		"", "Full", "full ", " full", "r", "r:", "r::", "r:1", "r:1:", "r::1", "r:0:1", "r:0:0", "r:2:1", "r:-1:1", "r:1:-1",
		"r:01:2", "r:1:02", "r:+1:2", "r:1:2:3", "r:1:2 ", "r: 1:2", "1:2", "R:1:2", "r:a:b", "r:1:1e3", "r:1.0:2",
		"r:1:9223372036854775808", "r:٣:٤", "r:1:2\n", "r:1:2\x00",
	}
	for _, key := range bad {
		if got, err := ParseScope(key); err == nil {
			t.Errorf("ParseScope(%q) = %v, want an error", key, got)
		}
	}
}

// spec 3.2, spec 3.4: whatever is parsed is written the same way again, and is a possible scope.
func FuzzParseScope(f *testing.F) {
	for _, s := range []string{"full", "r:1:2", "r:2:1", "r:0:5", "r:1:9223372036854775807", "", "r:01:1", "r:1:1:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		s, err := ParseScope(key)
		if err != nil {
			if s != (Scope{}) {
				t.Fatalf("%q: %v with an error", key, s)
			}
			return
		}
		if s.String() != key || !s.Whole() && (s.Start < 1 || s.End < s.Start) {
			t.Fatalf("%q parsed as %v", key, s)
		}
	})
}
