package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// roundTrip measures what the extension sees: its own code, in Node, from the call of read to the
// answer, with the engine as a process. integrations/pi/bench/roundtrip.ts is the other half.
func roundTrip(ctx context.Context, engine string) ([]figure, error) {
	bin, err := filepath.Abs(engine)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", "--import", "tsx", filepath.Join("bench", "roundtrip.ts"))
	cmd.Dir = filepath.Join("integrations", "pi")
	cmd.Env = append(os.Environ(), "DEJA_BIN="+bin, "TSX_TSCONFIG_PATH=tsconfig.run.json")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("node integrations/pi/bench/roundtrip.ts: %w; run make ts pi first", err)
	}
	var r map[string]struct{ Median, P99 float64 } // milliseconds, by number of entries
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, fmt.Errorf("node integrations/pi/bench/roundtrip.ts printed %q: %w", out, err)
	}
	small, large := r["100"], r["10000"]
	dur := func(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
	return []figure{
		{"round trip as the extension sees it, 10 000 entries, median", ms(dur(large.Median)), "≤ 1 ms", large.Median <= 1},
		{"the same, 99th percentile", ms(dur(large.P99)), "≤ 5 ms", large.P99 <= 5},
		{"the same against 100 entries, median", fmt.Sprintf("%.2f×", large.Median/small.Median), "≤ 1.5×", large.Median <= 1.5*small.Median},
	}, nil
}
