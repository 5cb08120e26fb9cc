package ui

import "io"

// suspension does nothing: there is no such thing here.
type suspension struct{}

// Run has nothing to do.
func (suspension) Run() error { return nil }

// SetStdin and the others have nothing to set: nothing is started.
func (suspension) SetStdin(io.Reader)  {}
func (suspension) SetStdout(io.Writer) {}
func (suspension) SetStderr(io.Writer) {}
