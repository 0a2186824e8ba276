//go:build unix

package realpi

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the group with SIGKILL. The group may be gone already.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
