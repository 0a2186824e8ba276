package main

import (
	"fmt"
	"os"
	"strings"
)

// peakMemory returns the peak resident memory of a running process in bytes, 0 if it is not known.
// The figure in the process's exit state is no good: it includes the parent at the time of the fork.
func peakMemory(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d", &kib); err != nil {
		return 0
	}
	return kib << 10
}
