package engine

import (
	"context"
	"fmt"

	"orchestrate/internal/graph"
	"orchestrate/internal/workspace"
)

// noteHot warns of lock files, migrations and generated files of the base commit that
// two isolated writers may both change. It needs the routes.
func (p *Plan) noteHot(ctx context.Context) {
	if p.Repo == nil || p.Base == "" || !p.Graph.MayBeHot(p.isolated) {
		return
	}
	hot, err := p.hotFiles(ctx)
	if err != nil {
		p.Notes = append(p.Notes, fmt.Sprintf("lock files, migrations and generated files that several jobs may change could not be looked for: %v", err))
		return
	}
	p.Spec.Warning = append(p.Spec.Warning, p.Graph.HotWarnings(p.Repo.Top(), hot, p.isolated)...)
}

func (p *Plan) hotFiles(ctx context.Context) ([]graph.Hot, error) {
	var in graph.HotIn
	var attributes []string
	err := p.Repo.FilesAt(ctx, p.Base, func(name string) {
		in.Add(name, false)
		if workspace.Attributes(name) {
			attributes = append(attributes, name)
		}
	})
	if err != nil {
		return nil, err
	}
	declared, err := p.Repo.GeneratedAt(ctx, p.Base, attributes)
	for _, name := range declared {
		in.Add(name, true)
	}
	return in.All(), err
}
