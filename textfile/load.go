package textfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ErrNotRegular says that the path names something that is not a regular file:
// a directory, a pipe, a socket, a device.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge says that the file holds more bytes than the caller allows.
var ErrTooLarge = errors.New("file too large")

// readChunk bounds one read call, so that a cancelled context is noticed soon.
const readChunk = 1 << 20

// Load opens path once, reads it once and makes the snapshot of what it read.
// Links are followed. A file with more than maxBytes bytes is refused.
//
// The error is ErrNotRegular, ErrTooLarge, ErrNotText, the context's error, or
// one from the operating system (fs.ErrNotExist, fs.ErrPermission, …), each to
// be told by errors.Is. Load does not wait for the writer of a pipe, and it
// opens no device: opening alone can have effects there.
func Load(ctx context.Context, path string, maxBytes int64) (*Snapshot, error) {
	content, err := readRegular(ctx, path, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("textfile: load: %w", err)
	}
	return NewSnapshot(path, content)
}

func readRegular(ctx context.Context, path string, maxBytes int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(path, info, maxBytes); err != nil {
		return nil, err
	}
	// The path may name another thing by now, so the open must not block either,
	// and what was opened is looked at again.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := checkRegular(path, info, maxBytes); err != nil {
		return nil, err
	}
	// A few kernel files are "regular" and yet wait for data.
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()

	content, err := readBounded(ctx, f, info.Size(), maxBytes)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return content, nil
}

func checkRegular(path string, info fs.FileInfo, maxBytes int64) error {
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if info.Size() > maxBytes {
		return &fs.PathError{Op: "open", Path: path, Err: ErrTooLarge}
	}
	return nil
}

// readBounded reads r to its end. The size is a hint only: a file may grow while
// it is read, and the files under /proc say 0.
func readBounded(ctx context.Context, r io.Reader, size, maxBytes int64) ([]byte, error) {
	// One byte more than the hint, so that the end is seen without growing.
	buf := make([]byte, 0, max(size+1, 512))
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), len(buf)+readChunk)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > maxBytes {
			return nil, ErrTooLarge
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
