// Package object is the content-addressed store of file snapshots (spec 9):
// the bytes that were served for a file, kept so that a later diff or range
// comparison has its base.
//
// The layout is that of the older TypeScript extension, so both can share one
// folder, normally <project>/.pi/readcache:
//
//	objects/sha256-<64 lowercase hex>.txt   one snapshot: the raw bytes, nothing else
//	tmp/                                    files being written or removed
//	.gitignore, README                      written once; snapshots are private
//	last-prune                              its mtime says when a Prune last began
//
// What it promises: a successful [Store.Get] returns exactly the bytes that
// hash to the name asked for, whatever crashed, raced or tampered before. It
// does not promise that a snapshot is still there: any snapshot may be missing
// at any time, and every caller must then do without (spec 1.2).
// It holds supporting data, never the truth about what a model has seen.
//
// What it does not know: sessions, trust, paths of the files that were read,
// text encodings, settings.
//
// Any number of goroutines and processes may use one folder at the same time
// (spec 9.2). There is no lock and no state in memory: every call opens
// the folder anew, so a folder that is deleted, replaced or pruned underneath
// costs a miss and nothing more.
package object

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// DefaultMaxObject is the largest snapshot, in bytes, that a store takes or
// returns unless [WithMaxObject] says otherwise: 32 MiB.
const DefaultMaxObject = 32 << 20

// touchInterval is how coarse the time of last use is. A use sets an object's
// mtime only when it is off by at least this much, which saves nearly all
// inode writes; the price is that an object may have been used up to this long
// after its mtime. Prune adds it to its limits for that reason.
const touchInterval = 10 * time.Minute

// Errors of the store, to be tested with [errors.Is]. For a reader all of them
// mean the same: there is no snapshot, do without.
var (
	// ErrMissing: there is no such object.
	ErrMissing = errors.New("no such object")
	// ErrCorrupt: the object's content did not match its name, or it was not
	// a regular file. It has been removed where that was possible.
	ErrCorrupt = errors.New("corrupt object")
	// ErrBadHash: the hash is not 64 lowercase hex digits, or (Put) is not the
	// hash of the content.
	ErrBadHash = errors.New("bad hash")
	// ErrTooLarge: the content is larger than the store's limit. The object is
	// left alone: another process may use a higher limit.
	ErrTooLarge = errors.New("object too large")
	// ErrUnsafe: the store's folder, objects/ or tmp/ is a symbolic link or no
	// folder. Nothing is read or written through it.
	ErrUnsafe = errors.New("unsafe store folder")
)

// A Store is a handle on one store folder. It is safe for concurrent use and
// needs no closing.
type Store struct {
	dir       string
	maxObject int64
	now       func() time.Time
	// fault lets a test make a step fail, by name; nil in real use.
	fault func(step string) error
}

// An Option changes a setting of [Open].
type Option func(*Store)

// WithMaxObject sets the largest snapshot in bytes; n < 1 leaves the default.
func WithMaxObject(n int64) Option {
	return func(s *Store) {
		if n > 0 {
			s.maxObject = n
		}
	}
}

// Open returns a handle on the store in dir, normally
// <project>/.pi/readcache. It does no I/O: the folder is created by the first
// Put, and a store that was never written is simply empty.
func Open(dir string, opts ...Option) *Store {
	s := &Store{dir: dir, maxObject: DefaultMaxObject, now: time.Now}
	for _, o := range opts {
		o(s)
	}
	return s
}

// Dir returns the folder given to [Open].
func (s *Store) Dir() string { return s.dir }

// Sum returns the name of content: its SHA-256 as 64 lowercase hex digits.
func Sum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// ValidHash reports whether hash has the form of a [Sum]. Uppercase digits are
// refused: on a case-insensitive disk they would give one object two names.
func ValidHash(hash string) bool {
	if len(hash) != 2*sha256.Size {
		return false
	}
	for i := range len(hash) {
		if c := hash[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Put stores content under hash, which must be [Sum] of content (spec 9.2).
// When it returns nil the object was complete on disk under its name; before
// that, and after any error, no part of it is visible there. An object of that
// name and size already there is left as it is and only marked as used. The
// context is checked before the disk is touched and before the object appears.
//
// Errors: [ErrBadHash], [ErrTooLarge], [ErrUnsafe], the context's, or the
// disk's.
func (s *Store) Put(ctx context.Context, hash string, content []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !ValidHash(hash) {
		return fmt.Errorf("put object %.80q: %w", hash, ErrBadHash)
	}
	if int64(len(content)) > s.maxObject {
		return fmt.Errorf("put object %s: %w: %d bytes, at most %d", hash, ErrTooLarge, len(content), s.maxObject)
	}
	if Sum(content) != hash {
		return fmt.Errorf("put object %s: %w: it is not the hash of the content", hash, ErrBadHash)
	}
	root, err := s.openForWrite()
	if err != nil {
		return fmt.Errorf("put object %s: %w", hash, err)
	}
	defer root.Close()

	// Size is a cheap test for a torn file of another program; anything subtler
	// is found by the next Get, which removes it.
	info, err := root.Lstat(objectPath(hash))
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(content)) && s.markUsed(root, hash, info) {
		return nil
	}
	if err := s.write(ctx, root, objectPath(hash), content); err != nil {
		return fmt.Errorf("put object %s: %w", hash, err)
	}
	return nil
}

// Get returns the content stored under hash and marks it as used (to within
// ten minutes, best effort; a read-only store works). The content is verified:
// whatever is found under the name that does not hash to it is removed and
// reported as [ErrCorrupt].
//
// Errors: [ErrMissing], [ErrCorrupt], [ErrBadHash], [ErrTooLarge],
// [ErrUnsafe], the context's, or the disk's.
func (s *Store) Get(ctx context.Context, hash string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !ValidHash(hash) {
		return nil, fmt.Errorf("get object %.80q: %w", hash, ErrBadHash)
	}
	root, err := s.openForRead()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("get object %s: %w", hash, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("get object %s: %w", hash, err)
	}
	defer root.Close()

	content, info, err := s.load(root, hash)
	if err != nil {
		if errors.Is(err, ErrCorrupt) && info != nil {
			// Best effort: where it cannot be removed it stays a miss.
			_, _ = s.setAside(root, hash, info)
		}
		return nil, fmt.Errorf("get object %s: %w", hash, err)
	}
	s.markUsed(root, hash, info)
	return content, nil
}

// load reads and verifies one object. The returned info is that of the file
// found under the name, also with ErrCorrupt.
func (s *Store) load(root *os.Root, hash string) ([]byte, fs.FileInfo, error) {
	name := objectPath(hash)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrMissing
	}
	if err != nil {
		return nil, nil, err
	}
	// Looked at before it is opened: opening a planted pipe would block.
	if !info.Mode().IsRegular() {
		return nil, info, fmt.Errorf("%w: not a regular file (%v)", ErrCorrupt, info.Mode().Type())
	}
	if info.Size() > s.maxObject {
		return nil, info, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, info.Size(), s.maxObject)
	}
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrMissing
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	// From here on the open file counts, not the name: another process may have
	// replaced the one that was looked at, and a file that is truncated or
	// appended to now fails the hash below.
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	var buf bytes.Buffer
	buf.Grow(int(min(info.Size(), s.maxObject)) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.LimitReader(f, s.maxObject+1)); err != nil {
		return nil, nil, err
	}
	if int64(buf.Len()) > s.maxObject {
		return nil, info, ErrTooLarge
	}
	if Sum(buf.Bytes()) != hash {
		return nil, info, fmt.Errorf("%w: %d bytes that do not match the name", ErrCorrupt, buf.Len())
	}
	return buf.Bytes(), info, nil
}

// markUsed sets the object's mtime to now if it is off by touchInterval or
// more. It reports whether the object was still there.
func (s *Store) markUsed(root *os.Root, hash string, info fs.FileInfo) bool {
	now := s.now()
	if age := now.Sub(info.ModTime()); age < touchInterval && age > -touchInterval {
		return true
	}
	err := root.Chtimes(objectPath(hash), now, now)
	return !errors.Is(err, fs.ErrNotExist)
}
