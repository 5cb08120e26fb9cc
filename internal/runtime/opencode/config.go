package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// liveConfig is what the program says its configuration amounts to.
type liveConfig struct {
	known      bool
	Model      string                     `json:"model"`
	Agent      string                     `json:"default_agent"`
	Username   string                     `json:"username"`
	Providers  map[string]json.RawMessage `json:"provider"`
	Servers    map[string]liveServer      `json:"mcp"`
	Permission map[string]json.RawMessage `json:"permission"`
}

type liveServer struct {
	Enabled *bool `json:"enabled"`
}

// planted is a setting that only a project file laid by the probe has.
const planted = "laid-by-the-probe-of-orchestrate"

// plainKey is where the profile keeps that the user's permissions hold no
// patterns, which the program would merge with those of a job.
const plainKey = "permission=plain"

// readConfig asks for the effective configuration in a folder whose project file
// holds a setting of its own: if that turns up, projects are not kept out.
func (b about) readConfig(ctx context.Context, asker *probe.Asker, p *runtime.Profile) liveConfig {
	var live liveConfig
	noProject := runtime.Control{Name: runtime.ControlNoProject}
	answer, err := b.inProject(ctx, asker, append([]string{"debug", "config"}, pure(*p)...))
	switch {
	case err != nil:
		noProject.Evidence = "self-test with a project file: " + err.Error()
	case !probe.JSON(answer.Stdout, &live):
		noProject.Evidence = "the effective configuration is not known"
	case live.Username == planted:
		live.known = true
		noProject.Evidence = "self-test: a setting of a project file was taken up"
	case !p.Shows(flagPure):
		live.known = true
		noProject.Evidence = "help does not show " + flagPure
	default:
		live.known, noProject.Verified = true, true
		noProject.Evidence = "self-test: a setting of a project file was not taken up · " + p.Flags[flagPure]
	}
	p.Controls = append(p.Controls, noProject)
	live.fill(p)
	asker.Summarize(fmt.Sprintf("model %q, agent %q, providers %s, tool servers %s, own permissions for %s",
		live.Model, live.Agent, names(live.Providers), names(live.Servers), names(live.Permission)))
	return live
}

// inProject asks in a folder that holds a project file.
func (b about) inProject(ctx context.Context, asker *probe.Asker, args []string) (answer runtime.Answer, err error) {
	dir, err := os.MkdirTemp("", "orchestrate-"+b.name+"-")
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, at := range []string{b.name + ".json", filepath.Join("."+b.name, b.name+".json")} {
		path := filepath.Join(dir, at)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return answer, err
		}
		if err := os.WriteFile(path, []byte(`{"username":`+quoted(planted)+`}`), 0o600); err != nil {
			return answer, err
		}
	}
	answer = asker.AskIn(ctx, dir, args...)
	if why := probe.Trouble(b.name+" debug config", answer); why != "" {
		return answer, errors.New(why)
	}
	return answer, nil
}

// fill takes the default model and what restricts jobs into the profile.
func (f liveConfig) fill(p *runtime.Profile) {
	p.DefaultModel = f.Model
	if f.known && !f.patterns() {
		p.Flags[plainKey] = "debug config: the user's permissions hold no patterns"
	}
	if f.Model == "" {
		p.Limits = append(p.Limits, "no default model is configured: without a model pin the program picks one by itself")
	}
	if started := f.startedServers(); len(started) > 0 {
		p.Limits = append(p.Limits, "tool servers of the user's configuration are started, though their tools are refused: "+strings.Join(started, ", "))
	}
}

// patterns reports whether the user's own permissions hold more than plain words.
func (f liveConfig) patterns() bool {
	for _, value := range f.Permission {
		if strings.HasPrefix(strings.TrimSpace(string(value)), "{") {
			return true
		}
	}
	return false
}

func (f liveConfig) startedServers() (started []string) {
	for name, server := range f.Servers {
		if server.Enabled == nil || *server.Enabled {
			started = append(started, name)
		}
	}
	slices.Sort(started)
	return started
}

// names are the keys of m for a person; the values may hold secrets.
func names[V any](m map[string]V) string {
	if len(m) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}
