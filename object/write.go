package object

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
)

// write makes name appear with content, whole or not at all (spec 9.2): a
// private file in tmp/, synced, then renamed. Two writers of one object both
// rename; the contents are equal, so it does not matter who is last.
func (s *Store) write(ctx context.Context, root *os.Root, name string, content []byte) error {
	tmp := tmpName("put")
	err := s.fill(root, tmp, content)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		if err = s.step("rename"); err == nil {
			err = root.Rename(tmp, name)
		}
		// Some systems refuse to replace a file that is open. If another writer
		// was first, all is well (spec 9.2).
		if info, e := root.Lstat(name); err != nil && e == nil &&
			info.Mode().IsRegular() && info.Size() == int64(len(content)) {
			_ = root.Remove(tmp)
			return nil
		}
	}
	if err != nil {
		_ = root.Remove(tmp) // a leftover is swept by Prune
		return err
	}
	// The content is safe; this makes the name survive a power cut. Not every
	// system can sync a folder, and a lost name is only a miss.
	syncDir(root, path.Dir(name))
	return nil
}

// writeFile is write for the store's own small files.
func (s *Store) writeFile(root *os.Root, name string, content []byte) error {
	return s.write(context.Background(), root, name, content)
}

// fill creates the file and gets its content onto the disk. Without the sync a
// power cut after the rename could leave a named file with a hole in it; Get
// would notice, but the snapshot would be lost although Put had reported it.
func (s *Store) fill(root *os.Root, tmp string, content []byte) error {
	// O_EXCL never follows a link and never opens what somebody else made.
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = s.step("write")
	if err == nil {
		_, err = f.Write(content)
	}
	if err == nil {
		err = s.step("sync")
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// setAside removes the object if it is still the file described by seen, and
// reports whether it did. Checking and then removing would leave a moment in
// which another process replaces a corrupt object or marks an old one as used,
// and that one would be lost. So the object is first renamed into tmp/, where
// nobody else touches it, looked at there, and put back if it is another. A
// reader in that moment sees a miss, a writer writes it anew.
func (s *Store) setAside(root *os.Root, hash string, seen fs.FileInfo) (bool, error) {
	if _, err := realDir(root, tmpDir); errors.Is(err, fs.ErrNotExist) {
		if err := root.Mkdir(tmpDir, 0o700); err != nil {
			return false, err
		}
	} else if err != nil {
		return false, err
	}
	aside := tmpName("old")
	err := root.Rename(objectPath(hash), aside)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info, err := root.Lstat(aside)
	if err != nil {
		return false, err
	}
	same := os.SameFile(info, seen) && info.Size() == seen.Size() && info.ModTime().Equal(seen.ModTime())
	if !same {
		return false, root.Rename(aside, objectPath(hash))
	}
	// A folder planted as an object may be full: it stays in tmp/, out of the way.
	return true, root.Remove(aside)
}

// tmpName is unique among all processes: 128 random bits.
func tmpName(kind string) string { return tmpDir + "/" + kind + "-" + rand.Text() }

func syncDir(root *os.Root, name string) {
	if d, err := root.Open(name); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

func (s *Store) step(name string) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(name)
}
