//go:build !unix

package realpi

import "os/exec"

// ownGroup does nothing: there are no process groups to use here.
func ownGroup(*exec.Cmd) {}

// killGroup kills the process alone; it may be gone already.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
