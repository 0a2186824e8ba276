package pi

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// AgentDir is pi's folder: ~/.pi/agent, or what PI_CODING_AGENT_DIR says.
func AgentDir(home string) string {
	if dir := os.Getenv("PI_CODING_AGENT_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(home, ".pi", "agent")
}

// SessionDir is where pi keeps the sessions of a project.
func SessionDir(cwd, home string) string {
	name := strings.TrimLeft(cwd, `/\`)
	name = strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(name)
	return filepath.Join(AgentDir(home), "sessions", "--"+name+"--")
}

// maxUsedSessions bounds how many session files UsedVersions replays, the newest ones.
const maxUsedSessions = 50

// UsedVersions returns the versions that the sessions of a project refer to where pi would resume
// them, for sessions written to within the given time.
func UsedVersions(cwd, home string, within time.Duration) map[string]bool {
	used := map[string]bool{}
	names, _ := filepath.Glob(filepath.Join(SessionDir(cwd, home), "*.jsonl"))
	slices.Sort(names) // they begin with the time
	slices.Reverse(names)
	for _, name := range names[:min(len(names), maxUsedSessions)] {
		info, err := os.Stat(name)
		if err != nil || time.Since(info.ModTime()) > within {
			continue
		}
		f, err := ReadFile(name)
		if err != nil {
			continue // not a session: nothing is referred to
		}
		at, err := f.Tree(cwd, home).At(f.Leaf)
		if err != nil {
			continue
		}
		for hash := range at.Trust.Versions() {
			used[hash] = true
		}
	}
	return used
}
