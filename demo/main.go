// Command demo shows the main job: a real pi with the extension, a scripted model on loopback, and
// what that model receives for each read. It needs no account and no key; everything happens in
// scratch folders that it removes. Run it with "make demo".
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"deja/conformance/realpi"
	"deja/conformance/scripted"
	"deja/textfile"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	install, err := newest()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "deja-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	root, err := realpi.Root()
	if err != nil {
		return err
	}
	engine := filepath.Join(scratch, "deja")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", engine, "deja/cmd/deja").CombinedOutput(); err != nil {
		return fmt.Errorf("build deja: %w\n%s", err, text)
	}
	p, err := realpi.Start(ctx, realpi.Options{
		Line:       install.Line,
		Extensions: []string{filepath.Join(root, "integrations", "pi", "src", "index.ts")},
		Env:        []string{"DEJA_BIN=" + engine},
		NoHostile:  true,
	})
	if err != nil {
		return err
	}
	defer p.Close()
	// The project is real code: the first package of deja itself, and a log that pi will not show whole.
	if err := copyProject(filepath.Join(root, "trust"), p.Options.Project); err != nil {
		return err
	}
	fmt.Fprintf(out, "A real pi (line %s), a scripted model, the project: %s\n", install.Line, strings.Join(files(p.Options.Project), ", "))
	fmt.Fprintf(out, "\n%-44s %9s %9s  %s\n", "what the model did", "pi alone", "with deja", "what it received (bytes, then the first line)")
	d := &demo{ctx: ctx, out: out, pi: p, dialect: dialect(install.Line)}
	if err := d.play(); err != nil {
		return err
	}
	return d.sum()
}

// newest returns the newest line of pi that is installed.
func newest() (realpi.Install, error) {
	var all error
	lines := realpi.Lines()
	for i := len(lines) - 1; i >= 0; i-- {
		in, err := realpi.Installed(lines[i])
		if err == nil {
			return in, nil
		}
		all = errors.Join(all, err)
	}
	return realpi.Install{}, all
}

func dialect(line realpi.Line) textfile.Dialect {
	if line == "0.73" {
		return textfile.Pi073
	}
	return textfile.Pi087
}

func copyProject(from, to string) error {
	for _, name := range []string{"state.go", "base.go", "event.go"} {
		raw, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), raw, 0o644); err != nil {
			return err
		}
	}
	var log strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&log, "%05d ok\n", i+1)
	}
	return os.WriteFile(filepath.Join(to, "build.log"), []byte(log.String()), 0o644)
}

func files(dir string) []string {
	entries, _ := os.ReadDir(dir) // just written
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

type demo struct {
	ctx     context.Context
	out     io.Writer
	pi      *realpi.Pi
	dialect textfile.Dialect
	plain   int // bytes that pi alone would have sent
	got     int // bytes that the model received
}

func (d *demo) play() error {
	steps := []func() error{
		d.read("reads state.go", "state.go"),
		d.read("reads it again", "state.go"),
		d.read("reads lines 60-90 of it", "state.go", 60, 31),
		d.edit("state.go", "const (\n\tmaxRanges = 64", "const (\n\tmaxRanges = 128"),
		d.read("reads state.go after its edit", "state.go"),
		d.read("reads lines 100-140, not edited", "state.go", 100, 41),
		d.read("reads base.go, first half", "base.go", 1, 100),
		d.read("reads base.go, the rest", "base.go", 101),
		d.read("reads base.go whole", "base.go"),
		d.read("reads build.log (pi cuts it)", "build.log"),
		d.read("reads build.log again", "build.log"),
		d.outside("base.go", "package trust", "package trust // touched by git"),
		d.read("reads base.go after that", "base.go"),
		d.compact(),
		d.read("reads state.go after the compaction", "state.go"),
		d.read("reads it again", "state.go"),
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return d.status()
}

func (d *demo) read(what, name string, offsetLimit ...int) func() error {
	return func() error {
		text, err := d.pi.Read(d.ctx, name, offsetLimit...)
		if err != nil {
			return err
		}
		plain, err := d.alone(name, offsetLimit)
		if err != nil {
			return err
		}
		d.plain += len(plain)
		d.got += len(text)
		first, rest, more := strings.Cut(text, "\n")
		if more && text == plain {
			first += fmt.Sprintf(" … (%d more lines)", 1+strings.Count(rest, "\n"))
		}
		fmt.Fprintf(d.out, "%-44s %9d %9d  %s\n", what, len(plain), len(text), first)
		if text != plain && more {
			for line := range strings.SplitSeq(strings.TrimSpace(rest), "\n") {
				fmt.Fprintf(d.out, "%-44s %9s %9s  %s\n", "", "", "", line)
			}
		}
		return nil
	}
}

// alone is what pi would answer without deja.
func (d *demo) alone(name string, offsetLimit []int) (string, error) {
	path := filepath.Join(d.pi.Options.Project, name)
	snap, err := textfile.Load(d.ctx, path, 1<<30)
	if err != nil {
		return "", err
	}
	var offset, limit *int
	if len(offsetLimit) > 0 {
		offset = &offsetLimit[0]
	}
	if len(offsetLimit) > 1 {
		limit = &offsetLimit[1]
	}
	p, err := textfile.Plain(snap, name, offset, limit, d.dialect)
	return p.Text, err
}

func (d *demo) edit(name, from, to string) func() error {
	return func() error {
		fmt.Fprintf(d.out, "%s\n", "edits a line of "+name)
		_, err := d.pi.Run(d.ctx, "edit", scripted.Do(scripted.Edit(name, from, to)), scripted.Say("done"))
		return err
	}
}

func (d *demo) outside(name, from, to string) func() error {
	return func() error {
		path := filepath.Join(d.pi.Options.Project, name)
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(d.out, "(outside of pi, a line of %s changes)\n", name)
		return os.WriteFile(path, []byte(strings.Replace(string(raw), from, to, 1)), 0o644)
	}
}

func (d *demo) compact() func() error {
	return func() error {
		fmt.Fprintln(d.out, "(the user compacts the session: the text is gone from the context)")
		_, err := d.pi.Compact(d.ctx)
		return err
	}
}

func (d *demo) status() error {
	notes, err := d.pi.Command(d.ctx, "/readcache-status")
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "\n/readcache-status\n")
	for _, n := range notes {
		fmt.Fprintf(d.out, "  %s\n", strings.ReplaceAll(n.Message, "\n", "\n  "))
	}
	return nil
}

func (d *demo) sum() error {
	saved := d.plain - d.got
	if saved <= 0 {
		return errors.New("nothing was saved: run \"deja doctor\"; the engine was probably not found")
	}
	fmt.Fprintf(d.out, "\nReads alone: %d bytes; with deja: %d bytes. Saved %d bytes, about %d tokens (bytes/4), %d %%.\n",
		d.plain, d.got, saved, saved/4, 100*saved/max(d.plain, 1))
	return nil
}
