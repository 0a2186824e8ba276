// Package config reads the settings of the read cache from two files:
//
//	<home>/.pi/agent/readcache.json             the user's, for all projects
//	<project>/.pi/readcache/config.json         the project's
//
// Both are JSON objects; // and /* */ comments and trailing commas are allowed.
// All keys are optional:
//
//	{
//	  "enabled": true,
//	  "minSaving": 1,                // bytes
//	  "exclude": ["*.secret", "certs/**", "~/private/**"],
//	  "excludeDefaults": true,       // user's file only
//	  "maxFileBytes": 33554432,
//	  "diff": {"maxBytes": 2097152, "maxLines": 12000, "byteRatio": 0.9, "lineRatio": 0.85},
//	  "store": {"maxBytes": 268435456, "maxAgeDays": 30}
//	}
//
// How the files combine: single values of the project replace the user's, key by
// key, also inside "diff" and "store". Exclusions only ever add up: the default
// patterns, the user's and the project's are all in force, because a project is
// somebody else's text and must not decide that a secret may be stored. For the
// same reason only the user's own file may drop the default patterns.
//
// Reading never fails. What is wrong is reported as a [Problem] with its place,
// and the value in force without it stays. Mistakes about exclusions exclude
// more, never less: see [Load].
//
// The package knows what the settings are called and which values make sense.
// It does not know what they are used for, and it does not read any other file.
package config

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"
)

// A Config is the settings in force. [Default] and [Load] make one; in the zero
// Config nothing is enabled and nothing excluded.
type Config struct {
	// Enabled is "enabled", default true. When false every read is plain.
	Enabled bool
	// MinSaving is "minSaving": how many bytes an answer must be shorter than
	// the plain read to be used. Default 1, range -1 to 1048576; a negative
	// value turns that rule off (spec 6.7).
	MinSaving int
	// Exclude holds the patterns in force, those of "exclude" after the
	// defaults; see [Config.Excluded]. spec 9.4
	Exclude []string
	// MaxFileBytes is "maxFileBytes": a larger file gets the plain read and is
	// not stored. Default 32 MiB, range 0 to 1 GiB.
	MaxFileBytes int64
	// Diff is "diff".
	Diff Diff
	// Store is "store".
	Store Store

	// base holds the spellings of the project folder (as given, and with links
	// resolved) that patterns with a slash are relative to; home is for "~/".
	base []string
	home string
}

// Diff bounds the work spent on a diff and says when one is worth sending.
// spec 6.5
type Diff struct {
	// MaxBytes is the size of either version above which no diff is tried.
	// Default 2 MiB, range 0 to 64 MiB; 0 means never a diff.
	MaxBytes int64
	// MaxLines is the same for the number of lines. Default 12000, range 0 to
	// 1000000.
	MaxLines int
	// ByteRatio is how large a diff may be, as a share of the file's bytes.
	// Default 0.9, range 0.01 to 1.
	ByteRatio float64
	// LineRatio is the same for lines. Default 0.85, range 0.01 to 1.
	LineRatio float64
}

// Store bounds the object store.
type Store struct {
	// MaxBytes is the total size of all snapshots aimed for. Default 256 MiB,
	// range 1 MiB to 1 TiB.
	MaxBytes int64
	// MaxAgeDays is how many days an unused snapshot is kept. Default 30, range
	// 1 to 3650.
	MaxAgeDays int
}

// MaxAge is MaxAgeDays as a duration.
func (s Store) MaxAge() time.Duration { return time.Duration(s.MaxAgeDays) * 24 * time.Hour }

// Default returns the settings of a user without any file. Patterns with a
// slash need the project folder, which only [Load] knows.
func Default() Config {
	return Config{
		Enabled:      true,
		MinSaving:    1,
		Exclude:      DefaultExcludes(),
		MaxFileBytes: 32 << 20,
		Diff:         Diff{MaxBytes: 2 << 20, MaxLines: 12000, ByteRatio: 0.9, LineRatio: 0.85},
		Store:        Store{MaxBytes: 256 << 20, MaxAgeDays: 30},
	}
}

// UserFile returns the path of the user's settings file.
func UserFile(home string) string { return filepath.Join(home, ".pi", "agent", "readcache.json") }

// ProjectFile returns the path of a project's settings file.
func ProjectFile(projectDir string) string {
	return filepath.Join(projectDir, ".pi", "readcache", "config.json")
}

// Load reads the settings that apply in projectDir for the user whose home
// folder is home; an empty string leaves that file out. Files that do not exist
// are no problem. Everything else that is not as it should be is returned as
// problems, the user's file first, each file's in order of place; the Config is
// usable in every case.
//
// Of a list of patterns with mistakes the good ones are in force. If any list
// has a mistake, or a file cannot be read or parsed at all, the default
// patterns stay in force even if the user's file drops them.
func Load(projectDir, home string) (Config, []Problem) {
	l := newLoader()
	l.cfg.base, l.cfg.home = spellings(projectDir), slash(home)
	if home != "" {
		l.file(UserFile(home), true)
	}
	if projectDir != "" {
		l.file(ProjectFile(projectDir), false)
	}
	l.finishExcludes()
	rank := map[string]int{ProjectFile(projectDir): 1}
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank[a.File], rank[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l.cfg, l.problems
}

// spellings returns the absolute forms of dir under which a file in it may be
// named, at most two.
func spellings(dir string) []string {
	if dir == "" {
		return nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = filepath.Clean(dir)
	}
	base := []string{fold(slash(abs))}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		if real := fold(slash(real)); real != base[0] {
			base = append(base, real)
		}
	}
	return base
}
