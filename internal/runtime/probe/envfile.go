package probe

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxEnvFile bounds how much of an environment file is read, in bytes.
const maxEnvFile = 1 << 20

// ProjectEnv refuses a folder where the program would find an environment file of the
// project that says to which service its calls, and with them its key, go. Such files
// are read even where a program is told to trust nothing of the project. files are
// their names, prefixes begin the variables that matter; those of Node and of proxies
// always do. It looks from dir upwards, as the programs do, but not in the home
// folder, whose files are the person's own.
func ProjectEnv(program, dir string, files, prefixes []string) error {
	home, _ := os.UserHomeDir() // without one there is none to leave out
	for at := filepath.Clean(dir); filepath.IsAbs(at) && at != home; at = filepath.Dir(at) {
		for _, name := range files {
			file := filepath.Join(at, name)
			if variable := setIn(file, prefixes); variable != "" {
				return fmt.Errorf("%s would take %s from %s, which can send its calls and its key elsewhere; take it out of that file, or use another runtime", program, variable, file)
			}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
	return nil
}

// setIn is the first variable of the file that matters; "" = none.
func setIn(file string, prefixes []string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close() // only read
	data := make([]byte, min(info.Size(), maxEnvFile))
	n, _ := f.Read(data) // what could not be read the program cannot read either
	for line := range bytes.Lines(data[:n]) {
		name, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(line)), "export "), "=")
		if name = strings.TrimSpace(name); ok && matters(name, prefixes) {
			return name
		}
	}
	return ""
}

func matters(name string, prefixes []string) bool {
	upper := strings.ToUpper(name)
	for _, p := range append([]string{"NODE_"}, prefixes...) {
		if strings.HasPrefix(upper, p) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_PROXY") || strings.HasSuffix(upper, "_BASE_URL")
}
