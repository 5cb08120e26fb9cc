package runtime

import "strings"

// Bypass finds an argument that switches a program's permission checks or sandbox
// off; "" when there is none. It is asked about the commands of agents, never about
// a plain program's own arguments.
func Bypass(argv []string) string {
	for _, arg := range argv {
		a := strings.ToLower(arg)
		for _, word := range [...]string{"--dangerously", "--allow-dangerously", "--yolo", "bypasspermissions", "danger-full-access"} {
			if strings.Contains(a, word) {
				return arg
			}
		}
	}
	return ""
}
