//go:build e2e && linux

package e2e

import "fmt"

func commandCode() agent {
	return agent{
		name: "command-code", pkg: "command-code",
		setup: func(l *lab) {
			l.file("home/.commandcode/providers.json", fmt.Sprintf(`{"provider":{"sim":{"name":"Sim","baseURL":"%s/v1",`+
				`"apiKey":"%s","models":{"made-up-model":{}}}}}`, l.sim.URL("command-code"), l.key("sk-made-up-")))
			l.set("COMMAND_CODE_API_KEY="+l.key("user_made_up_"), "CMD_LOCAL_ONLY=1")
		},
		model:  "sim/made-up-model",
		forced: "write_file",
		does:   map[string]outcome{},
	}
}
