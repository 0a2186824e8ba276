package realpi

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deja/conformance/scripted"
)

// defaultTimeout bounds every wait whose context has no deadline.
const defaultTimeout = 30 * time.Second

// Options say how pi is started. Only Line is required.
type Options struct {
	Line Line
	// Home and Project are absolute folders; empty ones are created fresh and
	// removed by Close. Two processes may share them.
	Home, Project string
	// Extensions are paths given with -e, in load order. The hostile extension
	// is loaded after them, or before them with HostileFirst, or not at all
	// with NoHostile (then Tree, Leaf, Mode and the like do not work).
	Extensions   []string
	HostileFirst bool
	NoHostile    bool
	// Env are extra NAME=value variables. pi inherits nothing but PATH.
	Env []string
	// Settings are merged over the default settings.json by top-level key.
	// Default: compaction on, 60 kept and 1000 reserved tokens, no retries.
	Settings map[string]any
	// ContextWindow of the model in tokens; default 200000.
	ContextWindow int
	// Args are extra command line arguments.
	Args []string
	// SessionFile resumes a session.
	SessionFile string
	// Model is the scripted model; nil starts one that Close closes.
	Model *scripted.Server
}

// scratch prepares the folders, the home files and the model. It returns the
// completed options and what undoes the fresh parts.
func (o Options) scratch() (_ Options, cleanup func(), err error) {
	var undo []func()
	cleanup = func() {
		for _, f := range undo {
			f()
		}
	}
	defer func() {
		if err != nil {
			cleanup()
		}
	}()
	for _, d := range []*string{&o.Home, &o.Project} {
		if *d != "" {
			continue
		}
		dir, err := os.MkdirTemp("", "deja-pi-")
		if err != nil {
			return o, nil, fmt.Errorf("realpi: %w", err)
		}
		// The real path: pi reports it, and on some systems TMPDIR is a link.
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return o, nil, fmt.Errorf("realpi: %w", err)
		}
		*d = dir
		undo = append(undo, func() { _ = os.RemoveAll(dir) })
	}
	if o.Model == nil {
		prefix, err := idPrefix(o.SessionFile)
		if err != nil {
			return o, nil, err
		}
		if o.Model, err = scripted.Start(scripted.Config{IDPrefix: prefix}); err != nil {
			return o, nil, err
		}
		model := o.Model
		undo = append(undo, func() { _ = model.Close() })
	}
	return o, cleanup, o.writeHome()
}

// idPrefix is a call id prefix that the session does not contain yet: its line
// count. Random ids would make request bodies differ from run to run.
func idPrefix(sessionFile string) (string, error) {
	if sessionFile == "" {
		return "", nil
	}
	b, err := os.ReadFile(sessionFile)
	if err != nil {
		return "", fmt.Errorf("realpi: session to resume: %w", err)
	}
	return fmt.Sprintf("call_s%d", strings.Count(string(b), "\n")), nil
}

// writeHome writes models.json and settings.json into the scratch home.
func (o Options) writeHome() error {
	window := o.ContextWindow
	if window <= 0 {
		window = 200_000
	}
	models := map[string]any{"providers": map[string]any{"fake": map[string]any{
		"baseUrl": o.Model.URL(), "api": "openai-completions", "apiKey": "x",
		"models": []any{map[string]any{
			"id": "fake", "name": "fake", "reasoning": false, "input": []string{"text"},
			"contextWindow": window, "maxTokens": 4096,
			"cost": map[string]any{"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0},
		}},
	}}}
	settings := map[string]any{
		"compaction": map[string]any{"enabled": true, "keepRecentTokens": 60, "reserveTokens": 1000},
		"retry":      map[string]any{"enabled": false, "baseDelayMs": 50},
	}
	maps.Copy(settings, o.Settings)
	dir := filepath.Join(o.Home, ".pi", "agent")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("realpi: %w", err)
	}
	for name, v := range map[string]any{"models.json": models, "settings.json": settings} {
		b, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return fmt.Errorf("realpi: %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return fmt.Errorf("realpi: %w", err)
		}
	}
	return nil
}

// args are the command line arguments after the CLI script.
func (o Options) args() ([]string, error) {
	args := []string{"--mode", "rpc", "--provider", "fake", "--model", "fake"}
	exts := o.Extensions
	if !o.NoHostile {
		hostile, err := HostileExtension()
		if err != nil {
			return nil, err
		}
		if o.HostileFirst {
			exts = append([]string{hostile}, exts...)
		} else {
			exts = append(exts[:len(exts):len(exts)], hostile)
		}
	}
	for _, e := range exts {
		args = append(args, "-e", e)
	}
	if o.SessionFile != "" {
		args = append(args, "--session", o.SessionFile)
	}
	return append(args, o.Args...), nil
}

// environ is the whole environment of pi: nothing of the caller's but PATH.
func (o Options) environ() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + o.Home, "LANG=C.UTF-8", "TERM=dumb",
		"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0",
	}
	return append(env, o.Env...)
}
