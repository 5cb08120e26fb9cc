//go:build !unix

package script

import "errors"

func (p *player) spawn(Spawn) error {
	return errors.New("spawn: unavailable on this system")
}
