package engine

import (
	"fmt"
	"slices"

	"orchestrate/internal/runtime/environ"
)

// sensitive says what a variable of the person's environment would give to a job.
func (e *Engine) sensitive(name string) string {
	return environ.Sensitive(name, environ.Value(e.Env, name))
}

// noteAllowed says which variables that jobs are allowed do not reach them.
func (p *Plan) noteAllowed(env []string) {
	_, names, withheld := environ.Filter(env, nil, nil)
	set := slices.Concat(names, withheld)
	for i := range p.Jobs {
		j := p.Jobs[i].Job
		for _, name := range j.EnvAllow {
			switch {
			case environ.Hosting(name):
				p.Notes = append(p.Notes, fmt.Sprintf("job %s does not get %s, although env_allow names it: it belongs to a session that hosts this one", j.ID, name))
			case !slices.Contains(set, name):
				p.Notes = append(p.Notes, fmt.Sprintf("job %s does not get %s, which env_allow names: it is not set", j.ID, name))
			}
		}
	}
}
