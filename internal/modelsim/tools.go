package modelsim

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// call is one use of a tool.
type call struct {
	name   string
	custom bool // takes raw instead of input
	input  map[string]any
	raw    string
}

// callOf finds the tool of the request that does what the step wants. An error
// says what is offered instead.
func (p *player) callOf(step Step) (call, error) {
	switch {
	case step.Tool != nil:
		return p.named(*step.Tool)
	case step.Write != nil:
		return p.write(p.fill(step.Write.Path), p.fill(step.Write.Content))
	case step.Read != nil:
		return p.readFile(p.fill(*step.Read))
	default:
		return p.shell(p.fill(*step.Shell))
	}
}

func (p *player) named(t Tool) (call, error) {
	c := call{raw: p.fill(t.Raw), input: map[string]any{}}
	for key, value := range t.Input {
		c.input[key] = p.fillAll(value)
	}
	for _, name := range t.Names {
		if o, ok := p.request.offered[name]; ok || t.Force {
			c.name, c.custom = name, o.custom || t.Raw != ""
			return c, nil
		}
	}
	if first := t.Names[0]; strings.HasPrefix(first, serverTools) && p.offers("exec") {
		c, err := program(first, c.input)
		c.raw = inOneGo + c.raw
		return c, err
	}
	return call{}, p.lacking(t.Names...)
}

// serverTools begins the names of tools that servers of the Model Context Protocol give
// an agent. Where its tools are functions in a program, those are not offered one by one.
const serverTools = "mcp__"

// inOneGo has the agent wait for the end of a program that takes its time, and not say
// meanwhile that it goes on.
const inOneGo = "// @exec: {\"yield_time_ms\": 120000}\n"

func (p *player) lacking(names ...string) error {
	return fmt.Errorf("the request offers no tool %s; it offers: %s", strings.Join(names, " or "), strings.Join(p.request.Tools, ", "))
}

func (p *player) offers(name string) bool {
	_, ok := p.request.offered[name]
	return ok
}

func (p *player) write(file, content string) (call, error) {
	for _, tool := range writers {
		if o, offered := p.request.offered[tool.name]; offered {
			input := o.extras()
			input[o.field(tool.path, pathFields)] = p.absolute(file)
			input[o.field(tool.content, contentFields)] = content
			return call{name: tool.name, input: input}, nil
		}
	}
	if p.offers("apply_patch") || p.offers("exec") {
		return p.patch(addition(file, content))
	}
	return p.shell(fmt.Sprintf("printf %%s %s > %s", quoted(content), quoted(file)))
}

// patch applies a patch with whichever of the agent's tools takes one.
func (p *player) patch(text string) (call, error) {
	switch o, offered := p.request.offered["apply_patch"]; {
	case !offered:
		return program("apply_patch", text)
	case o.custom:
		return call{name: "apply_patch", custom: true, raw: text}, nil
	default:
		return call{name: "apply_patch", input: map[string]any{"input": text}}, nil
	}
}

func (p *player) readFile(file string) (call, error) {
	for _, tool := range readers {
		if o, offered := p.request.offered[tool.name]; offered {
			input := o.extras()
			input[o.field(tool.path, pathFields)] = p.absolute(file)
			return call{name: tool.name, input: input}, nil
		}
	}
	return p.shell("cat " + quoted(file))
}

func (p *player) shell(command string) (call, error) {
	var names []string
	for _, tool := range shells {
		o, offered := p.request.offered[tool.name]
		if !offered {
			names = append(names, tool.name)
			continue
		}
		input := o.extras()
		field := o.field(tool.command, commandFields)
		input[field] = o.command(field, command, tool.argv)
		return call{name: tool.name, input: input}, nil
	}
	if p.offers("exec") {
		return program("exec_command", map[string]any{"cmd": command})
	}
	return call{}, p.lacking(append(names, "exec")...)
}

// program is a call of the tool that runs JavaScript, in which the agent's other
// tools are functions.
func program(tool string, argument any) (call, error) {
	text, err := json.Marshal(argument)
	if err != nil {
		return call{}, err
	}
	raw := fmt.Sprintf("const r = await tools.%s(%s); text(typeof r === 'string' ? r : JSON.stringify(r));", tool, text)
	return call{name: "exec", custom: true, raw: raw}, nil
}

// addition is a patch that adds a file.
func addition(file, content string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*** Begin Patch\n*** Add File: %s\n", file)
	for line := range strings.SplitSeq(strings.TrimSuffix(content, "\n"), "\n") {
		fmt.Fprintf(&b, "+%s\n", line)
	}
	b.WriteString("*** End Patch")
	return b.String()
}

func (p *player) absolute(file string) string {
	if path.IsAbs(file) {
		return file
	}
	return path.Join(p.request.cwd, file)
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
