package copilot

import "orchestrate/internal/runtime"

var _ runtime.Confined = Adapter{}

// Confinement is its settings folder, as a whole: its database of sessions and its
// sign-in lie in it. Its own program was unpacked among the person's caches, and is used
// from there.
func (Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	base := runtime.Base(getenv, homeEnv, ".copilot")
	c := runtime.Confinement{
		State: runtime.Below(base, "."),
		Credentials: append(runtime.Below(base, "config.json", "mcp-oauth-config"),
			runtime.Below(runtime.Base(getenv, "GH_CONFIG_DIR", ".config/gh"), "hosts.yml")...),
	}
	for _, cache := range runtime.Below(runtime.Base(getenv, "XDG_CACHE_HOME", ".cache"), "copilot") {
		c.Env = []string{"COPILOT_PKG_CACHE_HOME=" + cache}
	}
	return c
}
