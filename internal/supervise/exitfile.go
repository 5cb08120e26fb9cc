package supervise

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// writeExit puts exit.json in place whole: a reader finds all of it or nothing.
// It is not synced; the engine's journal is what must survive a power cut.
func writeExit(dir string, exit Exit) ([]byte, error) {
	data, err := json.Marshal(exit)
	if err != nil {
		return nil, err
	}
	temp := filepath.Join(dir, ".exit.json.tmp")
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return data, err
	}
	return data, os.Rename(temp, filepath.Join(dir, "exit.json"))
}

// how says in words how the program ended.
func (e Exit) how() string {
	switch {
	case e.SpawnError != "":
		return "never started: " + e.SpawnError
	case e.Signal != "":
		return "ended by " + e.Signal
	case e.ExitCode != nil:
		return fmt.Sprintf("exit status %d", *e.ExitCode)
	}
	return "not seen to end"
}
