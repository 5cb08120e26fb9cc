package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"orchestrate/internal/handoff"
	"orchestrate/internal/runtime"
)

// handedArg comes before an engine's command line and names the file in which its
// viewer left what it has learned.
const handedArg = "--known="

// handed is what whoever starts an engine has learned before, for the same command line.
type handed struct {
	Known  []runtime.Profile `json:"known"`
	Agents *handoff.Agents   `json:"agents"` // of the hosting session; null = it told of none
}

// handOver leaves what was learned for the engine that is about to start; gone is called
// when it has had its time. The engine removes the file itself.
func handOver(h handed) (args []string, gone func(), err error) {
	if len(h.Known) == 0 && h.Agents == nil {
		return nil, func() {}, nil
	}
	data, err := json.Marshal(h)
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
	return []string{handedArg + f.Name()}, func() { _ = os.Remove(f.Name()) }, nil // most often the engine was first
}

// takeOver is the engine's side: what was handed over, and the rest of its command line.
func takeOver(args []string) (h handed, rest []string, err error) {
	if len(args) == 0 {
		return h, args, nil
	}
	path, ok := strings.CutPrefix(args[0], handedArg)
	if !ok {
		return h, args, nil
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = errors.Join(json.Unmarshal(data, &h), os.Remove(path))
	}
	return h, args[1:], err
}
