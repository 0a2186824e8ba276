package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"deja/config"
	"deja/host/pi"
	"deja/object"
	"deja/readcache"
)

func gcCommand() *cobra.Command {
	var asJSON bool
	var dir, age string
	var size int64
	c := &cobra.Command{
		Use:   "gc",
		Short: "Remove old file versions from a project's store",
		Long: "Removes file versions from .pi/readcache that were not used for long, then the least recently used\n" +
			"beyond the size limit. Versions that a recent session of the project refers to stay. A version that is\n" +
			"missing later costs a plain read, nothing else.",
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			home, _ := os.UserHomeDir()
			cfg, _ := config.Load(dir, home)
			p := object.Policy{MaxBytes: cfg.Store.MaxBytes, MaxAge: cfg.Store.MaxAge()}
			if c.Flags().Changed("max-bytes") {
				if size < 0 {
					return usageError{fmt.Errorf("--max-bytes %d: want 0 or more", size)}
				}
				p.MaxBytes = max(size, 1)
			}
			if c.Flags().Changed("max-age") {
				if p.MaxAge, err = time.ParseDuration(age); err != nil || p.MaxAge <= 0 {
					return usageError{fmt.Errorf("--max-age %q: want a duration such as 720h or 90m", age)}
				}
			}
			used := pi.UsedVersions(dir, home, max(p.MaxAge, cfg.Store.MaxAge()))
			store := object.Open(filepath.Join(dir, readcache.StoreDir))
			res, err := store.Prune(c.Context(), time.Now(), p, func(hash string) bool { return used[hash] })
			if err != nil {
				return fmt.Errorf("gc of %s: %w", store.Dir(), err)
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), map[string]any{
					"dir": store.Dir(), "removed": res.Removed, "removedBytes": res.RemovedBytes,
					"kept": res.Kept, "keptBytes": res.KeptBytes, "temporaryRemoved": res.TempRemoved,
				})
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: removed %d objects (%d bytes), kept %d (%d bytes)\n",
				store.Dir(), res.Removed, res.RemovedBytes, res.Kept, res.KeptBytes)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.Flags().StringVar(&dir, "dir", ".", "the project's `folder`")
	c.Flags().Int64Var(&size, "max-bytes", 0, "keep at most this many `bytes`, besides versions in use (default: the setting store.maxBytes)")
	c.Flags().StringVar(&age, "max-age", "", "remove what was not used for this `time`, such as 720h or 90m (default: the setting store.maxAgeDays)")
	return c
}
