package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"deja/config"
	"deja/host/pi"
	"deja/readcache"
	"deja/textfile"
)

func statusCommand() *cobra.Command {
	var asJSON bool
	var leaf string
	c := &cobra.Command{
		Use:   "status <session.jsonl>",
		Short: "Show what a pi session proves: files, lines, savings",
		Long:  "Replays a session file of pi (format v1 to v3) up to a leaf and shows what could be answered\nfrom it, what its reads were answered with and what that saved.",
		Args:  exactly(1, "one session file"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := pi.ReadFile(args[0])
			if err != nil {
				return err
			}
			if !c.Flags().Changed("leaf") {
				leaf = f.Leaf
			}
			home, _ := os.UserHomeDir()
			tree := f.Tree(f.Cwd, home)
			at, err := tree.At(leaf)
			if err != nil {
				return fmt.Errorf("%s: %w; it has %d entries", args[0], err, tree.Len())
			}
			st := readcache.StatusOf(at)
			if f.Cwd != "" {
				cfg, _ := config.Load(f.Cwd, home) // doctor reports what is wrong with the settings
				st = readcache.New(readcache.Options{Dir: f.Cwd, Home: home, Dialect: textfile.Pi087, Config: cfg}).Status(at)
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), struct {
					Session string `json:"session"`
					Format  int    `json:"format"`
					Leaf    string `json:"leaf"`
					Entries int    `json:"entries"`
					Skipped int    `json:"skipped"`
					readcache.Status
				}{f.ID, f.Version, leaf, tree.Len(), f.Skipped, st})
			}
			fmt.Fprintf(c.OutOrStdout(), "session %s, format v%d, %d entries", f.ID, f.Version, tree.Len())
			if f.Skipped > 0 {
				fmt.Fprintf(c.OutOrStdout(), ", %d damaged lines skipped", f.Skipped)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "\n%s\n", st.Text(f.Cwd))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.Flags().StringVar(&leaf, "leaf", "", "the `id` of the entry where the branch ends (default: where pi resumes)")
	return c
}
