//go:build !unix

package client

import "os/exec"

// ownGroup does nothing: there are no process groups on this system.
func ownGroup(*exec.Cmd) {}

// askToLeave has no polite form on this system.
func askToLeave(cmd *exec.Cmd) { killGroup(cmd) }

// killGroup ends the agent's own process. That it has ended already is fine.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
