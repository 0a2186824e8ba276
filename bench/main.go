// Command bench measures what deja promises about speed (docs/performance.md). Each line has the
// figure, the bar, and where it is a comparison, both sides measured in turn in this one run: the
// machine's speed drifts, ratios hold. Run it with "make bench".
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

// figure is one line of the table.
type figure struct {
	what  string
	value string
	bar   string
	ok    bool
}

func main() {
	engine := flag.String("engine", "bin/deja", "the deja binary to start")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	fmt.Printf("%s/%s, %d processors, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	fmt.Printf("| what | measured | bar | |\n|---|---|---|---|\n")
	failed := false
	for _, measure := range []func(context.Context, string) ([]figure, error){decision, roundTrip, replay, diff, startUp} {
		list, err := measure(ctx, *engine)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		for _, f := range list {
			mark := "ok"
			if !f.ok {
				mark, failed = "MISSED", true
			}
			fmt.Printf("| %s | %s | %s | %s |\n", f.what, f.value, f.bar, mark)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// at returns the quantile q of the durations.
func at(q float64, d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond)) }
