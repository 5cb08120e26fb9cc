package probe

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/runtime"
)

// maxEnvFile bounds how much of an environment file is read, in bytes.
const maxEnvFile = 1 << 20

// ProjectEnv refuses a folder where the program would find an environment file of the
// project that says to which service its calls, and with them its key, go. Such files
// are read even where a program is told to trust nothing of the project. files are
// their names, prefixes begin the variables that matter; proxies, base URLs and what
// changes whom Node trusts or what it loads always do. What is empty sets nothing. An
// operator who lets the project in is asked nothing: see runtime.Request.Project. It looks from dir upwards, as the programs do, but not in the home
// folder, whose files are the person's own.
func ProjectEnv(program string, req runtime.Request, files, prefixes []string) error {
	if req.Project {
		return nil
	}
	home, _ := os.UserHomeDir() // without one there is none to leave out
	for at := filepath.Clean(req.Dir); filepath.IsAbs(at) && at != home; at = filepath.Dir(at) {
		for _, name := range files {
			file := filepath.Join(at, name)
			if variable := setIn(file, prefixes); variable != "" {
				return fmt.Errorf("%s would take %s from %s, which can send its calls and its key elsewhere; take it out of that file, use another runtime, or allow it in the operator's configuration: runtimes: {%s: {project: true}}",
					program, variable, file, program)
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
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(line)), "export "), "=")
		if name = strings.TrimSpace(name); !blank(value) && matters(name, prefixes) {
			return name
		}
	}
	return ""
}

// blank reports whether a value sets nothing.
func blank(value string) bool {
	value, _, _ = strings.Cut(" "+value, " #")
	return strings.Trim(value, "\"'` \t") == ""
}

func matters(name string, prefixes []string) bool {
	upper := strings.ToUpper(name)
	for _, p := range append([]string{"NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_USE_"}, prefixes...) {
		if strings.HasPrefix(upper, p) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_PROXY") && upper != "NO_PROXY" || strings.HasSuffix(upper, "_BASE_URL")
}
