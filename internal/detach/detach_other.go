//go:build !unix

package detach

import "errors"

// Available says whether an engine can be detached on this system.
const Available = false

var errUnavailable = errors.New("a run cannot be detached on this system")

// Start is unavailable here.
func Start(string, []string, []string, string) (*Viewer, error) { return nil, errUnavailable }

// Launch is unavailable here.
func Launch(string, []string) error { return errUnavailable }

// Serve is unavailable here.
func Serve() (*Control, error) { return nil, errUnavailable }
