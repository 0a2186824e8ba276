package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// tmpMaxAge is how old a file in tmp/ must be to be taken for the leftover of a
// dead process. No write takes an hour.
const tmpMaxAge = time.Hour

// A Policy says what [Store.Prune] may keep. A zero field means its default, a
// negative one switches that limit off.
type Policy struct {
	// MaxBytes is the total size aimed for, counted as file sizes. Default
	// 256 MiB.
	MaxBytes int64
	// MaxAge is the time since the last use after which an object goes.
	// Default 30 days.
	MaxAge time.Duration
	// MinAge protects what was used more recently than this, also against
	// MaxBytes: other processes may have active branches that keep does not
	// know of. Default one hour; negative means no protection.
	MinAge time.Duration
}

func (p Policy) withDefaults() Policy {
	p.MaxBytes = cmp.Or(p.MaxBytes, 256<<20)
	p.MaxAge = cmp.Or(p.MaxAge, 30*24*time.Hour)
	p.MinAge = cmp.Or(p.MinAge, time.Hour)
	return p
}

// A PruneResult says what a [Store.Prune] did.
type PruneResult struct {
	Removed      int   // objects removed
	RemovedBytes int64 // their size
	Kept         int   // objects left
	KeptBytes    int64 // their size
	TempRemoved  int   // leftovers removed from tmp/
}

// Stats describes a store, see [Store.Stats].
type Stats struct {
	Objects int   // snapshots
	Bytes   int64 // their size, as file sizes
	// Oldest and Newest are the earliest and latest time of last use, to
	// within ten minutes; zero when there are no objects.
	Oldest, Newest time.Time
	// Foreign counts what lies in objects/ and is no object: other names,
	// links, folders. It is never touched by Prune.
	Foreign int
	// Temp counts the files in tmp/: writes in progress and leftovers.
	Temp int
}

// entry is one object as the scan saw it.
type entry struct {
	hash string
	info fs.FileInfo
}

// Stats counts the store's content, best effort: other processes may change it
// meanwhile. A store that does not exist is empty.
func (s *Store) Stats() (Stats, error) {
	var st Stats
	root, err := s.openForRead()
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return st, fmt.Errorf("object store: %w", err)
	}
	defer root.Close()
	entries, foreign, err := scan(root)
	if err != nil {
		return st, fmt.Errorf("object store: %w", err)
	}
	st.Objects, st.Foreign = len(entries), foreign
	for _, e := range entries {
		st.Bytes += e.info.Size()
	}
	if len(entries) > 0 {
		st.Oldest, st.Newest = entries[0].info.ModTime(), entries[len(entries)-1].info.ModTime()
	}
	if names, err := list(root, tmpDir); err == nil {
		st.Temp = len(names)
	}
	return st, nil
}

// Prune removes objects by age, then oldest use first until the total is within
// p.MaxBytes, then leftovers in tmp/ older than an hour. An object for which
// keep says yes (nil: none) or which p.MinAge protects is never removed, so the
// total may stay above the limit. keep is asked at most once for an object.
//
// Times of last use are known to ten minutes only, and Prune errs towards
// keeping: each age limit is exceeded by that much before it counts. An object
// dated in the future (a clock that was wrong) is dated now and kept.
//
// It goes on past objects that cannot be removed and reports them together at
// the end; the result is valid with an error too. A cancelled context stops it
// between two removals.
func (s *Store) Prune(ctx context.Context, now time.Time, p Policy, keep func(hash string) bool) (PruneResult, error) {
	var res PruneResult
	if err := ctx.Err(); err != nil {
		return res, err
	}
	root, err := s.openForRead()
	if errors.Is(err, fs.ErrNotExist) {
		return res, nil
	}
	if err != nil {
		return res, fmt.Errorf("prune objects: %w", err)
	}
	defer root.Close()
	// Marked at the start, not at the end, so that several processes that find
	// it due do not all scan.
	s.markPrune(root, now)
	entries, _, err := scan(root)
	if err != nil {
		return res, fmt.Errorf("prune objects: %w", err)
	}
	errs := s.pruneObjects(ctx, root, entries, now, p.withDefaults(), keep, &res)
	errs = append(errs, sweep(root, now, &res))
	if err := errors.Join(errs...); err != nil {
		return res, fmt.Errorf("prune objects: %w", err)
	}
	return res, nil
}

// pruneObjects goes through entries, which are in order of last use, once: the
// objects beyond MaxAge are a prefix of them, and so is what size takes.
func (s *Store) pruneObjects(ctx context.Context, root *os.Root, entries []entry, now time.Time, p Policy,
	keep func(string) bool, res *PruneResult,
) (errs []error) {
	for _, e := range entries {
		res.Kept++
		res.KeptBytes += e.info.Size()
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return append(errs, err)
		}
		age := now.Sub(e.info.ModTime())
		if age < -touchInterval {
			_ = root.Chtimes(objectPath(e.hash), now, now)
			continue
		}
		if p.MinAge >= 0 && age < p.MinAge+touchInterval {
			continue
		}
		tooOld := p.MaxAge >= 0 && age > p.MaxAge+touchInterval
		tooMuch := p.MaxBytes >= 0 && res.KeptBytes > p.MaxBytes
		if !tooOld && !tooMuch || keep != nil && keep(e.hash) {
			continue
		}
		removed, err := s.setAside(root, e.hash, e.info)
		if err != nil {
			errs = append(errs, err)
		}
		if removed {
			res.Removed++
			res.RemovedBytes += e.info.Size()
			res.Kept--
			res.KeptBytes -= e.info.Size()
		}
	}
	return errs
}

// sweep removes what dead processes left in tmp/.
func sweep(root *os.Root, now time.Time, res *PruneResult) error {
	names, err := list(root, tmpDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		name = tmpDir + "/" + name
		info, err := root.Lstat(name)
		if err != nil || info.IsDir() || now.Sub(info.ModTime()) <= tmpMaxAge {
			continue
		}
		switch err := root.Remove(name); {
		case err == nil:
			res.TempRemoved++
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// PruneDue reports whether the last Prune of this store, by any process, began
// at least every ago. It costs one look at a file, so it can be asked often. A
// store that does not exist needs none; one with a marker in the future does.
func (s *Store) PruneDue(now time.Time, every time.Duration) bool {
	root, err := s.openForRead()
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(pruneMarker)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	age := now.Sub(info.ModTime())
	return age >= every || age < -touchInterval
}

func (s *Store) markPrune(root *os.Root, now time.Time) {
	f, err := root.OpenFile(pruneMarker, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_ = f.Close()
	}
	_ = root.Chtimes(pruneMarker, now, now)
}

// scan lists the objects, least recently used first; equal times by name, so
// that the order is always the same.
func scan(root *os.Root) (entries []entry, foreign int, err error) {
	names, err := list(root, objectsDir)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		hash, ok := hashOfName(name)
		if !ok {
			foreign++
			continue
		}
		info, err := root.Lstat(objectPath(hash))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed by another process meanwhile
		}
		if err != nil {
			return nil, 0, err
		}
		if !info.Mode().IsRegular() {
			foreign++
			continue
		}
		entries = append(entries, entry{hash, info})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(a.info.ModTime().Compare(b.info.ModTime()), cmp.Compare(a.hash, b.hash))
	})
	return entries, foreign, nil
}

// list returns the names in one of the store's folders, all before any is
// removed: removing while reading may skip some.
func list(root *os.Root, dir string) ([]string, error) {
	if _, err := realDir(root, dir); err != nil {
		return nil, err
	}
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}
