package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"orchestrate/internal/runtime"
)

// knownArg comes before an engine's command line and names the file in which its
// viewer left what it has learned of runtimes.
const knownArg = "--known="

// handOver leaves profiles for the engine that is about to start; gone is called when
// it has had its time. The engine removes the file itself.
func handOver(known []runtime.Profile) (args []string, gone func(), err error) {
	if len(known) == 0 {
		return nil, func() {}, nil
	}
	data, err := json.Marshal(known)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.CreateTemp("", "orchestrate-known-*.json")
	if err != nil {
		return nil, nil, fmt.Errorf("what was learned of the runtimes cannot be handed to the engine: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, nil, errors.Join(err, os.Remove(f.Name()))
	}
	return []string{knownArg + f.Name()}, func() { _ = os.Remove(f.Name()) }, nil // most often the engine was first
}

// takeOver is the engine's side: the profiles and the rest of its command line.
func takeOver(args []string) (known []runtime.Profile, rest []string, err error) {
	if len(args) == 0 {
		return nil, args, nil
	}
	path, ok := strings.CutPrefix(args[0], knownArg)
	if !ok {
		return nil, args, nil
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = errors.Join(json.Unmarshal(data, &known), os.Remove(path))
	}
	return known, args[1:], err
}
