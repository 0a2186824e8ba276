package object

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	objectsDir   = "objects"
	tmpDir       = "tmp"
	objectPrefix = "sha256-"
	objectSuffix = ".txt"
	pruneMarker  = "last-prune"
)

// ignoreText keeps snapshots out of commits. The settings file that lives in
// the same folder is let through, so that a team can share it.
const ignoreText = "*\n!/config.json\n"

const readmeText = `This folder belongs to the read cache of a coding agent. objects/ holds private
snapshots of files that the agent has read, each named by the SHA-256 of its
content, so that a later read can be answered with a diff; tmp/ holds files being
written. Everything except config.json (settings, if there is one) may be deleted
at any time: the next reads are then answered in full. Do not commit or share it:
snapshots may hold whatever the agent was shown.
`

// objectPath is the object's name relative to the store folder (spec 9.1).
// The hash must be valid, so it cannot hold a path separator.
func objectPath(hash string) string {
	return objectsDir + "/" + objectPrefix + hash + objectSuffix
}

// hashOfName is the inverse for a name in objects/.
func hashOfName(name string) (string, bool) {
	hash, ok := strings.CutPrefix(name, objectPrefix)
	if !ok {
		return "", false
	}
	hash, ok = strings.CutSuffix(hash, objectSuffix)
	return hash, ok && ValidHash(hash)
}

// openForRead opens an existing store. It changes nothing on disk. A store that
// does not exist gives fs.ErrNotExist.
//
// Symbolic links: the folder itself, objects/ and tmp/ must be real folders.
// Each is looked at without following links; then all work goes through an
// os.Root, which cannot leave the folder it opened, so a link planted after the
// look leads nowhere either. Links above the folder (a linked .pi or project)
// are the user's own business and are followed.
func (s *Store) openForRead() (*os.Root, error) {
	root, err := s.openRoot()
	if err != nil {
		return nil, err
	}
	if _, err := realDir(root, objectsDir); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// openForWrite opens the store and creates what is missing of it. Folders of
// ours that others can enter are closed to 0700 (spec 9.2), which also shuts
// off snapshots that an older version left with looser modes; where that is not
// permitted (another owner, a file system without modes) they are used as they
// are, since content is verified on every load and new files are 0600 anyway.
func (s *Store) openForWrite() (*os.Root, error) {
	root, err := s.openRoot()
	if errors.Is(err, fs.ErrNotExist) {
		// The parents are not ours alone (.pi has other tenants): usual mode.
		if err := os.MkdirAll(filepath.Dir(s.dir), 0o777); err != nil {
			return nil, err
		}
		if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		root, err = s.openRoot()
	}
	if err != nil {
		return nil, err
	}
	if err := s.prepare(root); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// prepare makes the folder complete. All of it is checked on each call, so a
// crash between two steps, or a user who deletes half of it, does no harm.
func (s *Store) prepare(root *os.Root) error {
	info, err := root.Lstat(".")
	if err != nil {
		return err
	}
	tighten(root, ".", info)
	for _, dir := range []string{tmpDir, objectsDir} {
		info, err := realDir(root, dir)
		if errors.Is(err, fs.ErrNotExist) {
			if err := root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			info, err = realDir(root, dir)
		}
		if err != nil {
			return err
		}
		tighten(root, dir, info)
	}
	// Before the first object: without it a snapshot could be committed, so
	// failing to write it fails the Put. A file that is there is the user's.
	for _, f := range []struct{ name, text string }{{".gitignore", ignoreText}, {"README", readmeText}} {
		_, err := root.Lstat(f.name)
		if errors.Is(err, fs.ErrNotExist) {
			err = s.writeFile(root, f.name, []byte(f.text))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openRoot opens the store folder, refusing a link in its place.
func (s *Store) openRoot() (*os.Root, error) {
	seen, err := os.Lstat(s.dir)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, fmt.Errorf("%w: %s is no folder (%v)", ErrUnsafe, s.dir, seen.Mode().Type())
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	opened, err := root.Lstat(".")
	if err == nil && !os.SameFile(seen, opened) {
		err = fmt.Errorf("%w: %s was replaced while it was opened", ErrUnsafe, s.dir)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// realDir says that name is a folder and not a link to one.
func realDir(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is no folder (%v)", ErrUnsafe, name, info.Mode().Type())
	}
	return info, nil
}

func tighten(root *os.Root, name string, info fs.FileInfo) {
	// On Windows the mode bits say nothing about who may read.
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return
	}
	_ = root.Chmod(name, info.Mode().Perm()&0o700)
}
