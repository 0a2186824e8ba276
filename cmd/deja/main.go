// Command deja answers a coding agent's repeated reads with a line or a diff instead of a file.
//
// The command line is a thin layer: each file here is one subcommand that reads its flags, calls
// one package and renders the outcome. Rules of all of them:
//
//   - what was asked for goes to standard output, everything else to standard error;
//   - --json prints one JSON object whose fields only ever grow;
//   - an error is one line "deja: what, where: what is accepted; what to do next";
//   - exit status 0: done; 1: it did not work, or doctor found something; 2: the call is wrong.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the Makefile; without it the version of the module or commit is used.
var version = ""

// usageError marks errors of the call itself; they end with status 2.
type usageError struct{ error }

// errFound ends doctor with status 1 without another line of error.
var errFound = errors.New("problems were found")

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, errOut io.Writer) int {
	root := &cobra.Command{
		Use:           "deja",
		Short:         "Repeated reads that cost a line instead of a file",
		Long:          "deja answers a coding agent's repeated reads with a line or a diff instead of a file,\nonly when the text is provably in the model's context.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see \"%s --help\"", err, c.CommandPath())}
	})
	root.AddCommand(piCommand(), statusCommand(), gcCommand(), doctorCommand(), versionCommand())
	err := root.Execute()
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFound):
		return 1
	}
	fmt.Fprintf(errOut, "deja: %v\n", err)
	if _, usage := errors.AsType[usageError](err); usage || unknownCommand(root, args) {
		return 2
	}
	return 1
}

func unknownCommand(root *cobra.Command, args []string) bool {
	_, _, err := root.Find(args)
	return err != nil
}

// exactly is cobra.ExactArgs with an error that says what is wanted.
func exactly(n int, want string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("%s: want %s, got %d arguments; see \"%s --help\"", c.CommandPath(), want, len(args), c.CommandPath())}
		}
		return nil
	}
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// buildVersion is the version of this binary, "devel" if nothing is known.
func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
