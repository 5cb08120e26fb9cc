package runtime

import (
	"path/filepath"
	"slices"
	"strings"
)

// Bypass finds an argument that switches a program's permission checks or sandbox
// off; "" when there is none. It is asked about the commands of agents, never about
// a plain program's own arguments. NAME=value entries of an environment may stand
// among them. What alone follows a final -- is a prompt.
func Bypass(argv []string) string {
	for i, arg := range argv {
		if i > 0 && i == len(argv)-1 && argv[i-1] == "--" {
			return ""
		}
		if switchesOff(arg) || arg == "-y" && !launcher(argv[:i]) || arg == "-f" && forces(argv[:i]) {
			return arg
		}
		if i > 0 && strings.HasPrefix(argv[i-1], "-") && setsOff(argv[i-1], arg) {
			return argv[i-1] + " " + arg
		}
	}
	return ""
}

// Bypass is that of the command's own words. A prompt that is its last argument is none
// of them, unless it could be taken for a flag.
func (c Command) Bypass(prompt string) string {
	argv := c.Argv
	if last := len(argv) - 1; last > 0 && len(c.Stdin) == 0 && prompt != "" && !strings.HasPrefix(prompt, "-") {
		if flag, ok := strings.CutSuffix(argv[last], prompt); ok && (flag == "" || strings.HasSuffix(flag, "=")) {
			argv = argv[:last]
		}
	}
	return Bypass(slices.Concat(c.Env, argv))
}

// switchesOff looks at one argument: a flag, a flag with its value, a variable, or
// settings in JSON.
func switchesOff(arg string) bool {
	a := strings.ToLower(arg)
	if strings.HasPrefix(a, "{") || strings.HasPrefix(a, "[") {
		return names(a) || slices.ContainsFunc(strings.Split(a, `"`), isSwitch)
	}
	return names(a) || isSwitch(a)
}

// isSwitch looks at one word in small letters.
func isSwitch(a string) bool {
	name, value, valued := strings.Cut(a, "=")
	switch {
	case !strings.HasPrefix(a, "-"):
		return valued && switchesVariable(name, value)
	case slices.Contains([]string{"false", "0", "off", "no"}, value):
		return name == "--sandbox"
	case slices.ContainsFunc([]string{"--dangerous", "--allow-dangerous", "--allow-all"}, func(p string) bool { return strings.HasPrefix(name, p) }):
		return true
	}
	return slices.Contains([]string{
		"--yolo", "--auto", "--full-auto", "--approve-for-me", "--approve-mcps", "--approve-all", "--trust-all-tools", "--force", "--yes-always", "--no-sandbox",
	}, name) || valued && setsOff(name, value)
}

// names finds the words by which programs call a mode without checks.
func names(a string) bool {
	return strings.Contains(strings.ReplaceAll(a, " ", ""), `writable_roots=["/"`) ||
		slices.ContainsFunc([]string{"bypasspermissions", "danger-full-access", "dangerouslyallow", "skip-permissions"},
			func(word string) bool { return strings.Contains(a, word) })
}

// setsOff looks at a flag and its value.
func setsOff(flag, value string) bool {
	flag, value = strings.ToLower(flag), strings.ToLower(value)
	switch {
	case value == "yolo":
		return true
	case flag == "--auto-approve":
		return value != "false"
	case flag == "--allow-tool":
		return value == "*"
	case flag == "--sandbox":
		return slices.Contains([]string{"disabled", "false", "off", "none"}, value)
	}
	return value == "allow-all"
}

// switchesVariable looks at a variable, such as COPILOT_ALLOW_ALL.
func switchesVariable(name, value string) bool {
	if slices.Contains([]string{"", "0", "false", "no", "off", "n"}, strings.TrimSpace(value)) || strings.ContainsAny(name, " \t\n") {
		return false
	}
	return value == "yolo" || name == "is_sandbox" || name == "goose_mode" && value == "auto" ||
		slices.ContainsFunc([]string{"allow_all", "yolo", "dangerous", "bypass_perm", "skip_perm"}, func(part string) bool { return strings.Contains(name, part) })
}

// launcher reports whether what stands before -y is a program that fetches another,
// which it tells to ask no questions.
func launcher(before []string) bool {
	return len(before) == 1 && slices.Contains([]string{"npx", "npm", "pnpm", "bunx", "yarn"},
		strings.TrimSuffix(filepath.Base(before[0]), ".cmd"))
}

// forces reports whether what stands before -f is a program that means --force by it:
// Cursor's agent. For most it is a file.
func forces(before []string) bool {
	return slices.ContainsFunc(before, func(word string) bool {
		return slices.Contains([]string{"agent", "cursor-agent"}, strings.TrimSuffix(filepath.Base(word), ".cmd"))
	})
}
