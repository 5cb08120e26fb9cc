package mcp

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Where is the folder that a call works in; every tool takes it.
type Where struct {
	Cwd string `json:"cwd,omitempty" jsonschema:"folder to work in, absolute; left out: the workspace of this session"`
}

func (w Where) where() string { return w.Cwd }

// Fully asks for what the command prints as JSON as well.
type Fully struct {
	Full bool `json:"full,omitempty" jsonschema:"add what the command prints with --json, if it is not too long"`
}

func (f Fully) published(out string) map[string]any {
	if !f.Full {
		return nil
	}
	return published(out)
}

// missing says how to come by what was asked for and is too long, "" = it is there.
func (f Fully) missing(doc map[string]any, how string) string {
	if !f.Full || doc != nil {
		return ""
	}
	return "published is too long for here: " + how
}

// OfRun names the run that a call is about.
type OfRun struct {
	Run string `json:"run" jsonschema:"runId that start gave, or the path of a run directory"`
}

// call is one call of a tool.
type call struct {
	*server
	req *sdk.CallToolRequest
	cwd string
	far bool // it works in another workspace than the session's
}

// command carries out a command line in the folder of the call.
func (c call) command(ctx context.Context, args []string, of ...string) Outcome {
	return c.host.Call(ctx, Command{Args: args, Of: of, Cwd: c.cwd})
}

func (c call) root() string { return c.host.Root(c.cwd) }

// named is a RUN argument as the command takes it, and as every later call does, whatever
// folder that works in: a path is meant from this call's folder, and an id of a run in
// another workspace than the session's is the path of the run.
func (c call) named(run string) string {
	switch {
	case strings.ContainsRune(run, filepath.Separator) && !filepath.IsAbs(run):
		return filepath.Join(c.cwd, run)
	case c.far:
		return cmp.Or(dirOf(c.root(), run), workerDir(c.root(), run), run)
	}
	return run
}

// meant is the run, by its id, that a command took run for: a worker run stands for one of
// its calls, and what is said next is about that one.
func (c call) meant(run, id string) string {
	dir := dirOf(c.root(), id)
	switch {
	case dir == "" || dirOf(c.root(), run) != "":
		return run
	case c.far:
		return dir
	}
	return id
}

// bound is what a number of a tool's input may be.
type bound struct{ least, most float64 }

// tool is one tool before it is added.
type tool struct {
	name, title, about string
	reads              bool             // it changes nothing
	weighs             bool             // what it does, or lets be done, cannot be taken back
	bounds             map[string]bound // of its input
}

// add offers a tool. What do returns as an error the model gets as one that it can act on.
func add[In interface{ where() string }, Out any](s *server, srv *sdk.Server, t tool, do func(context.Context, call, In) (Out, error)) {
	input := inputOf[In](t.bounds)
	s.takes[t.name] = takes(input)
	sdk.AddTool(srv, &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: input, OutputSchema: schemaOf[Out](),
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: t.reads, DestructiveHint: &t.weighs},
	}, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		var none Out
		ctx, done := s.during(ctx)
		defer done()
		cwd, err := s.place.of(ctx, req.Session, in.where(), s.host.Cwd)
		if err != nil {
			return nil, none, err
		}
		c := call{server: s, req: req, cwd: cwd}
		if in.where() != "" {
			home, err := s.rootOf(ctx, req.Session)
			c.far = err != nil || home != c.root()
		}
		out, err := do(ctx, c, in)
		if ctx.Err() != nil && !errors.Is(err, errAway) {
			return nil, none, errAway
		}
		return nil, out, err
	})
}

// inputOf is the schema of a tool's input.
func inputOf[In any](bounds map[string]bound) *jsonschema.Schema {
	schema := schemaOf[In]()
	for name, b := range bounds {
		schema.Properties[name].Minimum, schema.Properties[name].Maximum = &b.least, &b.most
	}
	return schema
}

// schemaOf is the schema of what a tool takes or gives.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // only a struct of ours could be at fault, and each is in a test
	}
	single(schema)
	return schema
}

// single gives each value one type: some clients do not understand a type that may also be
// null. What can be left out is never null; the rest says so in another way.
func single(s *jsonschema.Schema) {
	for name, p := range s.Properties {
		if !slices.Contains(s.Required, name) && orNull(p) {
			p.Type, p.Types = p.Types[1], nil
		}
		single(p)
		if orNull(p) {
			about := p.Description
			p.Description, p.Type, p.Types = "", p.Types[1], nil
			s.Properties[name] = &jsonschema.Schema{Description: about, AnyOf: []*jsonschema.Schema{{Type: "null"}, p}}
		}
	}
	if s.Items != nil {
		single(s.Items)
	}
}

func orNull(s *jsonschema.Schema) bool { return len(s.Types) == 2 && s.Types[0] == "null" }
