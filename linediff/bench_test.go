package linediff

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// The bar for 1 % is 3 ms an operation. "changed-lines" is the size of the answer:
// removed plus added lines.
func benchmarkProgram(b *testing.B, percent int) {
	base, current := editedProgram(12000, percent)
	var d Diff
	for b.Loop() {
		var err error
		if d, err = Unified(context.Background(), "f", base, current); err != nil {
			b.Fatal(err)
		}
	}
	removed, added := tally(d.Text)
	b.ReportMetric(float64(removed+added), "changed-lines")
	b.ReportMetric(float64(len(d.Text)), "diff-bytes")
}

func Benchmark12000Lines1Percent(b *testing.B)  { benchmarkProgram(b, 1) }
func Benchmark12000Lines10Percent(b *testing.B) { benchmarkProgram(b, 10) }
func Benchmark12000Lines90Percent(b *testing.B) { benchmarkProgram(b, 90) }

// BenchmarkMake1Percent is the whole door: limits, diff, gate, verification.
func BenchmarkMake1Percent(b *testing.B) {
	base, current := editedProgram(11900, 1) // the edit may add lines
	for b.Loop() {
		if _, why := Make(context.Background(), "f", base, current, len(current), 11900, DefaultLimits()); why != ReasonNone {
			b.Fatal(why)
		}
	}
}

// BenchmarkGit is git diff over the same inputs, with the start of its process.
func BenchmarkGit(b *testing.B) {
	for _, percent := range []int{1, 10, 90} {
		b.Run(fmt.Sprintf("%dPercent", percent), func(b *testing.B) {
			g := newGit(b)
			base, current := editedProgram(12000, percent)
			g.write("a", base)
			g.write("b", current)
			var out string
			for b.Loop() {
				out = g.diff("a", "b")
			}
			removed, added := tally(out)
			b.ReportMetric(float64(removed+added), "changed-lines")
			b.ReportMetric(float64(len(out)), "diff-bytes")
		})
	}
}

// BenchmarkWorst holds the inputs that reach the cost cap most often.
func BenchmarkWorst(b *testing.B) {
	for name, c := range adversaries(rand.New(rand.NewPCG(1, 1)), 12000) {
		b.Run(name, func(b *testing.B) {
			base, current := join(c[0]), join(c[1])
			var d Diff
			for b.Loop() {
				d, _ = Unified(context.Background(), "f", base, current)
			}
			removed, added := tally(d.Text)
			b.ReportMetric(float64(removed+added), "changed-lines")
		})
	}
}
