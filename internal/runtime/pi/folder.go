package pi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// leftAlone says why the program would change the working folder before any tool
// runs: at its start it renames a folder of an old layout, of a project that it is
// told to ignore too, and no flag keeps it from that.
func leftAlone(dir string) error {
	old, now := filepath.Join(dir, ".pi", "commands"), filepath.Join(dir, ".pi", "prompts")
	if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(now); err == nil {
		return nil
	}
	return fmt.Errorf("pi would rename %s to %s at its start; do that yourself first, or use another runtime", old, now)
}
