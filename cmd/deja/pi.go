package main

import (
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"deja/host/pi"
)

func piCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pi",
		Short: "Serve pi's extension on standard input and output (pi starts this)",
		Long:  "Serves pi's extension pi-readcache: JSON-RPC 2.0, one message a line (docs/protocol.md).\npi starts it by itself; it ends when its input does.",
		Args:  exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			// Replaying a long session is mostly allocation; collecting less often saves about a quarter of
			// its time, for some 20 MB more at 100 000 entries (docs/performance.md).
			debug.SetGCPercent(200)
			// A Ctrl-C in the terminal is meant for pi; the end of the input tells us when it is over.
			signal.Ignore(syscall.SIGINT)
			s := &pi.Server{Version: buildVersion(), Log: c.ErrOrStderr()}
			return s.Serve(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	}
}
