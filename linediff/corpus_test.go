package linediff

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// program returns n lines that look like source code: some lines are unique, many
// (blank ones, closing braces, common statements) occur again and again.
func program(rng *rand.Rand, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = programLine(rng)
	}
	return lines
}

func programLine(rng *rand.Rand) string {
	switch r := rng.IntN(100); {
	case r < 12:
		return "\n"
	case r < 27:
		return strings.Repeat("\t", rng.IntN(4)) + "}\n"
	case r < 40:
		return "\t\treturn nil, err\n"
	case r < 50:
		return fmt.Sprintf("\tif x%d != nil {\n", rng.IntN(40))
	default:
		return fmt.Sprintf("\tvalue%d := compute(%d, %d)\n", rng.IntN(1000000), rng.IntN(100), rng.IntN(100))
	}
}

// edit returns a copy of lines with about percent of them replaced, removed,
// preceded by a new line, or repeated.
func edit(rng *rand.Rand, lines []string, percent int) []string {
	var out []string
	for _, line := range lines {
		if rng.IntN(100) >= percent {
			out = append(out, line)
			continue
		}
		switch rng.IntN(4) {
		case 0, 1:
			out = append(out, programLine(rng))
		case 2:
			out = append(out, programLine(rng), line)
		}
	}
	return out
}

// editedProgram returns a program of n lines and an edited version.
func editedProgram(n, percent int) (base, current []byte) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(percent)))
	lines := program(rng, n)
	return join(lines), join(edit(rng, lines, percent))
}

func join(lines []string) []byte { return []byte(strings.Join(lines, "")) }

// numbered returns n distinct lines.
func numbered(prefix string, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%s%d\n", prefix, i)
	}
	return lines
}

// drawn returns n lines, each one of the first kinds numbers.
func drawn(rng *rand.Rand, n, kinds int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d\n", rng.IntN(kinds))
	}
	return lines
}

// cycle returns n lines that repeat the given ones.
func cycle(n int, of ...string) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = of[i%len(of)] + "\n"
	}
	return lines
}

func shuffled(rng *rand.Rand, lines []string) []string {
	out := append([]string{}, lines...)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func reversed(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[len(lines)-1-i] = line
	}
	return out
}
