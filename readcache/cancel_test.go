package readcache

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

var inTheEighties = time.UnixMilli(500_000_000_000)

// countdown is a context that ends when it is looked at for the n-th time.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// spec 6.11: whenever a request is given up, nothing is claimed after that, and nothing is kept that
// was not decided about.
func TestCancelledAtAnyMoment(t *testing.T) {
	s := newStage(t)
	s.write("a", file(120))
	s.read("a")
	for name, content := range map[string]string{
		"unchanged": file(120),
		"diff":      numbered(120, map[int]string{50: "changed"}),
	} {
		t.Run(name, func(t *testing.T) {
			s.write("a", content)
			claimed := false
			for n := range int64(200) {
				inner, cancel := context.WithCancel(context.Background())
				ctx := &countdown{Context: inner, cancel: cancel}
				ctx.left.Store(n)
				d := s.engine.Decide(ctx, s.state(), request("a"))
				ended := inner.Err() != nil
				cancel()
				switch {
				case d.Text != "" && ended:
					t.Fatalf("after %d looks: %q for a request that was given up", n, d.Text)
				case d.Text == "" && !ended:
					t.Fatalf("after %d looks: %s, though nothing was given up", n, d.Reason)
				case d.Text == "" && d.Reason != ReasonCancelled && d.Reason != "diff_cancelled" && d.Reason != ReasonNoObject:
					t.Fatalf("after %d looks: %s", n, d.Reason)
				}
				claimed = claimed || d.Text != ""
			}
			if !claimed {
				t.Error("no claim with 200 looks at the context")
			}
		})
	}
}
