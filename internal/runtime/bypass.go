package runtime

import "strings"

// Bypass finds an argument that switches a program's permission checks or sandbox
// off; "" when there is none. It is asked about the commands of agents, never about
// a plain program's own arguments.
func Bypass(argv []string) string {
	for i, arg := range argv {
		a := strings.ToLower(arg)
		for _, word := range [...]string{
			"--dangerously", "--allow-dangerously", "--yolo", "bypasspermissions", "danger-full-access",
			"--allow-all", "--trust-all-tools", "--full-auto", "=yolo", "--auto-approve=true", "_allow_all=",
		} {
			if strings.Contains(a, word) {
				return arg
			}
		}
		if a == "yolo" && i > 0 && strings.HasPrefix(argv[i-1], "-") {
			return argv[i-1] + " " + arg
		}
	}
	return ""
}
