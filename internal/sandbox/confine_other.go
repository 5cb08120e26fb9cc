//go:build !linux

package sandbox

import (
	"fmt"
	"os"
	"runtime"
)

// MinABI is of Linux.
const MinABI = 3

// ABI is 0: there is no Landlock here.
func ABI() int { return 0 }

// confine says that it cannot.
func confine(string, []string) int {
	fmt.Fprintln(os.Stderr, "orchestrate: there is no sandbox on "+runtime.GOOS)
	return 126
}
