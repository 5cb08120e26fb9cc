package opencode

import "orchestrate/internal/runtime"

var _ runtime.Confined = Adapter{}

// Confinement leaves its configuration as it is: there it only looks for settings, and
// keeps packages that it would load. Its list of models is in the person's caches.
func (a Adapter) Confinement(getenv func(string) string) runtime.Confinement {
	name := a.about.name
	data := runtime.Base(getenv, "XDG_DATA_HOME", ".local/share")
	state := runtime.Base(getenv, "XDG_STATE_HOME", ".local/state")
	config := runtime.Base(getenv, "XDG_CONFIG_HOME", ".config")
	c := runtime.Confinement{
		State:       append(runtime.Below(data, name), runtime.Below(state, a.about.states...)...),
		Credentials: append(runtime.Below(data, name+"/auth.json", name+"/mcp-auth.json"), runtime.Below(config, name+"/"+name+".json", name+"/"+name+".jsonc")...),
	}
	for _, models := range runtime.Below(runtime.Base(getenv, "XDG_CACHE_HOME", ".cache"), name+"/models.json") {
		c.Env = a.about.env("MODELS_PATH=" + models)
	}
	return c
}
