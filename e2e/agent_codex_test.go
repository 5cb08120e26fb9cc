//go:build e2e && linux

package e2e

import (
	"os"
	"path/filepath"
)

func codex() agent {
	return agent{
		name: "codex", pkg: "@openai/codex",
		setup: func(l *lab) {
			ok(l.t, os.Mkdir(filepath.Join(l.base, "codex"), 0o700))
			l.set("CODEX_HOME=" + filepath.Join(l.base, "codex"))
			l.file("codex/config.toml", "openai_base_url = \""+l.sim.URL("codex")+"/v1\"\n")
			l.command(l.key("sk-made-up-"), filepath.Join(l.bin, "codex"), "login", "--with-api-key")
		},
		does: map[string]outcome{},
	}
}
