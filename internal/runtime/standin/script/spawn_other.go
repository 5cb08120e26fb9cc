//go:build !unix

package script

import "errors"

// Start refuses: sessions and file locks of this kind are not on this system.
func (Spawn) Start() (pid int, err error) {
	return 0, errors.New("spawn: unavailable on this system")
}
