package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deja/config"
	"deja/host/pi"
	"deja/object"
	"deja/readcache"
)

// finding is one line of doctor's report.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Is   string `json:"is"`           // what was found
	Do   string `json:"do,omitempty"` // what to do about it
}

func doctorCommand() *cobra.Command {
	var asJSON bool
	var dir string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that everything is in place, and say what to do",
		Args:  exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			home, _ := os.UserHomeDir()
			binary, program := checkBinary()
			list := []finding{binary, checkEngine(c.Context(), program), checkPi(c.Context()), checkExtension(home, dir)}
			list = append(list, checkSettings(dir, home)...)
			list = append(list, checkStore(c.Context(), dir))
			ok := true
			for _, f := range list {
				ok = ok && f.OK
			}
			if asJSON {
				if err := printJSON(c.OutOrStdout(), map[string]any{"ok": ok, "findings": list}); err != nil {
					return err
				}
			} else {
				render(c.OutOrStdout(), list)
			}
			if !ok {
				return errFound
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	c.Flags().StringVar(&dir, "dir", ".", "the project's `folder`")
	return c
}

func render(w io.Writer, list []finding) {
	for _, f := range list {
		mark := "ok  "
		if !f.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(w, "%s  %-10s %s\n", mark, f.What, f.Is)
		if f.Do != "" {
			fmt.Fprintf(w, "      %-10s → %s\n", "", f.Do)
		}
	}
}

// checkBinary looks where the extension looks (integrations/pi/src/binary.ts): a deja that is
// neither in DEJA_BIN nor on PATH is not found by pi unless the npm package brings its own. It
// returns the program that pi starts, or this one.
func checkBinary() (f finding, program string) {
	f.What = "deja"
	self, _ := os.Executable()
	if named := os.Getenv("DEJA_BIN"); named != "" {
		// It is a path; unlike a shell the extension does not look for a bare name on PATH.
		program, err := filepath.Abs(named)
		if err == nil {
			_, err = exec.LookPath(program)
		}
		if err != nil {
			f.Is, f.Do = "DEJA_BIN is "+named+", which is not a program", "set DEJA_BIN to the path of deja, or unset it"
			return f, self
		}
		f.OK, f.Is = true, named+" (DEJA_BIN)"
		return f, program
	}
	found, err := exec.LookPath("deja")
	if err != nil {
		f.Is, f.Do = "not on PATH; this is "+self, "add "+filepath.Dir(self)+" to PATH, or set DEJA_BIN="+self
		return f, self
	}
	f.OK, f.Is = true, found
	return f, found
}

// checkEngine starts the engine as pi does and has it answer once.
func checkEngine(ctx context.Context, program string) finding {
	f := finding{What: "engine", Do: "replace " + program + " by a deja of the extension's version; this one is " + buildVersion()}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "pi")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start).Round(100 * time.Microsecond)
	lines := bufio.NewScanner(bytes.NewReader(out))
	var ready, pong bool
	var version string
	for lines.Scan() {
		var m struct {
			Method string
			ID     int
			Params pi.ReadyParams
		}
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			if m.Method == pi.MethodReady {
				ready, version = m.Params.Protocol == pi.Protocol, m.Params.Version
			}
			pong = pong || m.ID == 1
		}
	}
	if err != nil || !ready || !pong {
		f.Is = fmt.Sprintf("does not answer (error %v, output %.200q)", err, out)
		return f
	}
	return finding{What: "engine", OK: true, Is: fmt.Sprintf("version %s starts, answers and ends in %s, protocol %d", version, took, pi.Protocol)}
}

func checkPi(ctx context.Context) finding {
	f := finding{What: "pi"}
	path, err := exec.LookPath("pi")
	if err != nil {
		f.Is, f.Do = "not on PATH", "install pi: npm install -g @earendil-works/pi-coding-agent"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		f.Is, f.Do = fmt.Sprintf("%s --version: %v", path, err), "see that pi runs by itself"
		return f
	}
	f.OK, f.Is = true, path+" "+strings.TrimSpace(string(out))
	return f
}

// checkExtension looks for the extension where pi loads extensions from.
func checkExtension(home, dir string) finding {
	f := finding{What: "extension"}
	agent := pi.AgentDir(home)
	for _, settings := range []string{filepath.Join(agent, "settings.json"), filepath.Join(dir, ".pi", "settings.json")} {
		raw, err := os.ReadFile(settings)
		if err != nil {
			continue // absent is usual; pi itself reports one that it cannot read
		}
		var s struct{ Packages, Extensions []json.RawMessage }
		if err := json.Unmarshal(raw, &s); err != nil {
			f.Is, f.Do = settings+": "+err.Error(), "mend the file; pi does not load extensions from it"
			return f
		}
		for _, entry := range append(s.Packages, s.Extensions...) {
			if isExtension(entry, filepath.Dir(settings), home) {
				f.OK, f.Is = true, fmt.Sprintf("%s in %s", entry, settings)
				return f
			}
		}
	}
	for _, at := range []string{filepath.Join(agent, "extensions", "pi-readcache"), filepath.Join(dir, ".pi", "extensions", "pi-readcache")} {
		if _, err := os.Stat(at); err == nil {
			f.OK, f.Is = true, at
			return f
		}
	}
	f.Is = "pi does not load it"
	f.Do = "pi install <deja>/integrations/pi, where <deja> is your clone (or try it once: pi -e <deja>/integrations/pi/src/index.ts)"
	return f
}

// isExtension reports whether an entry of pi's settings loads our extension: by the name of the package
// it names, or that is at the place it names. A place where nothing is (any more) loads nothing.
func isExtension(entry json.RawMessage, dir, home string) bool {
	const name = "pi-readcache"
	var source string
	if json.Unmarshal(entry, &source) != nil {
		var o struct{ Source string }
		_ = json.Unmarshal(entry, &o) // of another form: no source
		source = o.Source
	}
	if spec, npm := strings.CutPrefix(source, "npm:"); npm {
		return spec == name || strings.HasPrefix(spec, name+"@")
	}
	if rest, ok := strings.CutPrefix(source, "~/"); ok {
		source = filepath.Join(home, rest)
	} else if !filepath.IsAbs(source) {
		source = filepath.Join(dir, source)
	}
	if _, err := os.Stat(source); err != nil {
		return false
	}
	for range 3 { // a package's folder, or a file in its src
		var p struct{ Name string }
		if raw, err := os.ReadFile(filepath.Join(source, "package.json")); err == nil && json.Unmarshal(raw, &p) == nil {
			return p.Name == name
		}
		source = filepath.Dir(source)
	}
	return false
}

func checkSettings(dir, home string) []finding {
	cfg, problems := config.Load(dir, home)
	if len(problems) == 0 {
		is := "defaults or valid"
		if !cfg.Enabled {
			is = "valid; \"enabled\" is false, so every read is pi's own"
		}
		return []finding{{What: "settings", OK: true, Is: is}}
	}
	var list []finding
	for _, p := range problems {
		list = append(list, finding{What: "settings", Is: p.String(), Do: "mend it; until then the default is used"})
	}
	return list
}

// checkStore writes, reads and reports; a store that cannot be written costs diffs, nothing else.
func checkStore(ctx context.Context, dir string) finding {
	f := finding{What: "store"}
	store := object.Open(filepath.Join(dir, readcache.StoreDir))
	if _, err := os.Stat(store.Dir()); os.IsNotExist(err) {
		return finding{What: "store", OK: true, Is: store.Dir() + " (made with the first read)"}
	}
	probe := []byte("deja doctor\n")
	hash := object.Sum(probe)
	if err := store.Put(ctx, hash, probe); err != nil {
		f.Is, f.Do = err.Error(), "make "+store.Dir()+" writable for you; until then there are no diffs"
		return f
	}
	if _, err := store.Get(ctx, hash); err != nil {
		f.Is, f.Do = err.Error(), "remove "+store.Dir()+"; it is made anew and nothing but diffs is lost"
		return f
	}
	stats, err := store.Stats()
	if err != nil {
		f.Is, f.Do = err.Error(), "remove "+store.Dir()+"; it is made anew and nothing but diffs is lost"
		return f
	}
	return finding{What: "store", OK: true, Is: fmt.Sprintf("%s, %d objects, %d bytes", store.Dir(), stats.Objects, stats.Bytes)}
}
