package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// takes says in a line what a tool's input may be.
func takes(s *jsonschema.Schema) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		text := name + " (" + p.Type
		if p.Maximum != nil {
			text += fmt.Sprintf(" from %g to %g", *p.Minimum, *p.Maximum)
		}
		if slices.Contains(s.Required, name) {
			text += ", always"
		}
		all = append(all, text+")")
	}
	return strings.Join(all, ", ")
}

// wayOn adds to a refusal of the SDK, which only names what is wrong with an input, what
// the tool takes.
func (s *server) wayOn(then sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := then(ctx, method, req)
		asked, ok := req.(*sdk.CallToolRequest)
		got, also := res.(*sdk.CallToolResult)
		if !ok || !also || got == nil || !got.IsError || len(got.Content) != 1 {
			return res, err
		}
		if text, ok := got.Content[0].(*sdk.TextContent); ok && strings.HasPrefix(text.Text, `validating "arguments"`) {
			text.Text += fmt.Sprintf("\nnext: call %s again with what it takes: %s", asked.Params.Name, s.takes[asked.Params.Name])
		}
		return res, err
	}
}
