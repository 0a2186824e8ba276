package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"deja/host/pi"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of deja and of the protocol it speaks with pi",
		Args:  exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(c.OutOrStdout(), map[string]any{
					"version": buildVersion(), "protocol": pi.Protocol, "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "deja %s (protocol %d, %s, %s/%s)\n",
				buildVersion(), pi.Protocol, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}
