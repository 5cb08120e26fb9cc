package custom

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"sync"

	yaml "go.yaml.in/yaml/v4"
)

//go:embed known.yaml
var knownYAML []byte

// Known are the descriptions that come with this program, by the name of the runtime.
func Known() map[string]Definition { return maps.Clone(readKnown()) }

var readKnown = sync.OnceValue(func() map[string]Definition {
	known := map[string]Definition{}
	dec := yaml.NewDecoder(bytes.NewReader(knownYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&known); err != nil {
		panic(fmt.Sprintf("known.yaml of this build: %v", err)) // a test reads it
	}
	return known
})
