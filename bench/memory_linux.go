package main

import (
	"os"
	"syscall"
)

// peakMemory returns the peak resident memory of an ended process in bytes, 0 if it is not known.
func peakMemory(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10 // Linux counts in KiB
	}
	return 0
}
