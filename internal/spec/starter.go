package spec

import (
	"bytes"
	_ "embed"
)

//go:embed starter.yaml
var starterYAML []byte

// Starter returns the commented spec that a new user starts from.
func Starter() []byte { return bytes.Clone(starterYAML) }
