package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// A setting is one key with a single value.
type setting struct {
	key     string
	accepts string
	// set stores the value if it is acceptable and says whether it was.
	set func(hujson.ValueTrimmed) bool
	// String is the value in force.
	fmt.Stringer
}

// settings is the table of all single values: key, place, range.
func (c *Config) settings() []setting {
	return []setting{
		boolean("enabled", &c.Enabled),
		integer("minSaving", &c.MinSaving, -1, 1<<20),
		integer("maxFileBytes", &c.MaxFileBytes, 0, 1<<30),
		integer("diff.maxBytes", &c.Diff.MaxBytes, 0, 64<<20),
		integer("diff.maxLines", &c.Diff.MaxLines, 0, 1_000_000),
		ratio("diff.byteRatio", &c.Diff.ByteRatio),
		ratio("diff.lineRatio", &c.Diff.LineRatio),
		integer("store.maxBytes", &c.Store.MaxBytes, 1<<20, 1<<40),
		integer("store.maxAgeDays", &c.Store.MaxAgeDays, 1, 3650),
	}
}

// keys are all keys there are, for suggestions.
func keys() []string {
	names := []string{"exclude", "excludeDefaults", "diff", "store"}
	for _, s := range new(Config).settings() {
		names = append(names, s.key)
	}
	return names
}

// shown prints the value behind a pointer.
type shown[T any] struct{ p *T }

func (s shown[T]) String() string { return fmt.Sprint(*s.p) }

func boolean(key string, p *bool) setting {
	return setting{key, "true or false", func(v hujson.ValueTrimmed) bool {
		b, ok := toBool(v)
		if ok {
			*p = b
		}
		return ok
	}, shown[bool]{p}}
}

func integer[T int | int64](key string, p *T, least, most int64) setting {
	return setting{key, fmt.Sprintf("a whole number from %d to %d", least, most), func(v hujson.ValueTrimmed) bool {
		f, ok := toNumber(v)
		// 2e6 and 2.0 are whole numbers; all in range are exact as float64.
		if !ok || f != math.Trunc(f) || f < float64(least) || f > float64(most) {
			return false
		}
		*p = T(f)
		return true
	}, shown[T]{p}}
}

func ratio(key string, p *float64) setting {
	return setting{key, "a number from 0.01 to 1", func(v hujson.ValueTrimmed) bool {
		f, ok := toNumber(v)
		if ok = ok && f >= 0.01 && f <= 1; ok {
			*p = f
		}
		return ok
	}, shown[float64]{p}}
}

func toBool(v hujson.ValueTrimmed) (b, ok bool) {
	lit, _ := v.(hujson.Literal)
	return string(lit) == "true", string(lit) == "true" || string(lit) == "false"
}

func toNumber(v hujson.ValueTrimmed) (float64, bool) {
	lit, ok := v.(hujson.Literal)
	if !ok || lit.Kind() != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	return f, err == nil
}

func toString(v hujson.ValueTrimmed) (string, bool) {
	lit, ok := v.(hujson.Literal)
	if !ok || lit.Kind() != '"' {
		return "", false
	}
	return lit.String(), true
}

// closest returns the key that somebody who wrote unknown may have meant: one
// with few letters different, in any case, also when it was put into the wrong
// section. It returns "" if nothing comes near.
func closest(unknown string) string {
	const longest = 40 // no key is as long; bounds the work
	if len(unknown) > longest {
		return ""
	}
	best, bestDistance := "", math.MaxInt
	for _, key := range keys() {
		d := min(
			distance(unknown, key),
			distance(leaf(unknown), leaf(key))+1, // right name, wrong place
		)
		if d < bestDistance {
			best, bestDistance = key, d
		}
	}
	if bestDistance > 1+len(leaf(unknown))/4 {
		return ""
	}
	return best
}

func leaf(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance is the number of letters to add, drop or change (Levenshtein),
// ignoring case.
func distance(a, b string) int {
	ra, rb := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	row := make([]int, len(rb)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range ra {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range rb {
			change := diagonal
			if x != y {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(rb)]
}
