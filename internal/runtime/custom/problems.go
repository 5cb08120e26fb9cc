package custom

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// Problem is one thing wrong with a definition.
type Problem struct {
	Field string // such as argv, or sign_in.ok
	Text  string
}

// Problems are all that is wrong with a definition, in the order of its fields.
func (d Definition) Problems() []Problem {
	c := &inspector{}
	c.program(d)
	c.prompt(d)
	c.output(d)
	c.added(d)
	c.environment(d)
	c.questions(d)
	return c.all
}

type inspector struct{ all []Problem }

func (c *inspector) say(field, format string, args ...any) {
	c.all = append(c.all, Problem{field, fmt.Sprintf(format, args...)})
}

// oneOf holds a word against those that are allowed; "" is the default.
func (c *inspector) oneOf(field, got string, allowed ...string) {
	if got != "" && !slices.Contains(allowed, got) {
		c.say(field, "found %q; allowed: %s", got, strings.Join(allowed, ", "))
	}
}

func (c *inspector) program(d Definition) {
	if len(d.Argv) == 0 || d.Argv[0] == "" {
		c.say("argv", "is missing; give the program and its words, such as [agent, --print]")
		return
	}
	name := d.Argv[0]
	plain := filepath.Base(name) == name && name != "." && name != ".." && name[0] != '-'
	if !plain && !filepath.IsAbs(name) && !strings.HasPrefix(name, "~/") {
		c.say("argv", "the program is %q; allowed: a plain name that is found on PATH, an absolute path, or one that begins with ~/", name)
	}
	for _, list := range d.words() {
		if arg := runtime.Bypass(list.words); arg != "" {
			c.say(list.field, "%s switches permission checks off; no description can do that", arg)
		}
	}
}

type words struct {
	field string
	words []string
}

// words are all that may be on its command line.
func (d Definition) words() []words {
	return []words{
		{"argv", d.Argv},
		{"prompt_flag", []string{d.PromptFlag}},
		{"resume", d.ResumeArgs},
		{"model", d.ModelArgs},
		{"effort", d.EffortArgs},
		{"read_only", d.ReadOnlyArgs},
	}
}

func (c *inspector) prompt(d Definition) {
	c.oneOf("prompt", d.Prompt, promptStdin, promptFile, promptArg)
	switch {
	case d.Output == outputACP && d.prompt() != promptStdin:
		c.say("prompt", "found %q; an acp agent gets its prompt by the protocol: remove it", d.Prompt)
	case d.PromptFlag != "" && d.prompt() == promptStdin:
		c.say("prompt_flag", "goes before a file or an argument, and the prompt goes by stdin: remove it, or say prompt: file or arg")
	}
}

func (c *inspector) output(d Definition) {
	if d.Output == "" {
		c.say("output", "is missing; say text, json-last-line, stream-json or acp")
	}
	c.oneOf("output", d.Output, outputText, outputLastLine, outputStream, outputACP)
	c.mode(d)
	if d.Output == outputLastLine {
		c.lastLine(d)
		return
	}
	if d.Completion != "" && (d.Output != outputText || d.Completion != exitZero) {
		c.say("completion", "found %q; with output %s there is nothing to choose: remove it", d.Completion, d.Output)
	}
	for field, path := range d.paths() {
		if path != "" {
			c.say(field, "is a field of the last line, and output is %s: remove it", d.Output)
		}
	}
}

func (c *inspector) lastLine(d Definition) {
	field, value, pair := strings.Cut(d.Completion, "=")
	switch {
	case d.Completion == "":
		c.say("completion", "is missing; say FIELD=VALUE of the last line, or exit-zero")
	case d.Completion != exitZero && (!pair || !isPath(field) || value == ""):
		c.say("completion", "found %q; allowed: exit-zero, or FIELD=VALUE of the last line, such as status=done", d.Completion)
	}
	if d.Answer == "" {
		c.say("answer", "is missing; say in which field of the last line the answer is")
	}
	for field, path := range d.paths() {
		if path != "" && !isPath(path) {
			c.say(field, "found %q; allowed: names joined by dots, such as result.text", path)
		}
	}
	if (d.Refused.Field == "") != (d.Refused.Contains == "") {
		c.say("refused", "needs both field and contains")
	}
}

// paths yields the fields of the last line in a fixed order.
func (d Definition) paths() func(func(field, path string) bool) {
	return func(yield func(string, string) bool) {
		for _, p := range [][2]string{
			{"answer", d.Answer},
			{"session", d.Session},
			{"answered_by", d.Model},
			{"usage.input", d.Usage.Input},
			{"usage.output", d.Usage.Output},
			{"usage.cost", d.Usage.Cost},
			{"error", d.Error},
			{"refused.field", d.Refused.Field},
			{"refused.tool", d.Refused.Tool},
		} {
			if !yield(p[0], p[1]) {
				return
			}
		}
	}
}

func isPath(s string) bool {
	return s != "" && !strings.Contains("."+s+".", "..")
}

// unheld are session modes by whose name an agent says that it asks for nothing.
var unheld = regexp.MustCompile(`(?i)yolo|bypass|full-?access|danger`)

func (c *inspector) mode(d Definition) {
	switch {
	case d.Mode == "":
	case d.Output != outputACP:
		c.say("mode", "only an acp agent has session modes: remove it")
	case unheld.MatchString(d.Mode):
		c.say("mode", "%s switches permission checks off; no description can do that", d.Mode)
	}
}

// added checks the words that depend on what a job asks for.
func (c *inspector) added(d Definition) {
	for _, a := range []struct {
		field string
		words []string
		here  string
	}{{"resume", d.ResumeArgs, sessionHere}, {"model", d.ModelArgs, modelHere}, {"effort", d.EffortArgs, effortHere}} {
		switch {
		case len(a.words) == 0:
		case d.Output == outputACP:
			c.say(a.field, "an acp agent is asked for it by the protocol: remove it")
		case !slices.ContainsFunc(a.words, func(w string) bool { return strings.Contains(w, a.here) }):
			c.say(a.field, "does not say where the value goes; write %s there", a.here)
		}
	}
	if (len(d.EffortArgs) > 0) != (len(d.Efforts) > 0) {
		c.say("efforts", "effort and efforts belong together: how to ask for a level, and the levels that there are")
	}
	if len(d.ResumeArgs) > 0 && d.Session == "" && d.Output != outputStream {
		c.say("resume", "needs session: the field in which the id of the session is")
	}
}

var (
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	passed   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
)

func (c *inspector) environment(d Definition) {
	for _, name := range d.Env {
		if !passed.MatchString(name) {
			c.say("env", "%q is not the name of a variable, nor one that ends in *", name)
		}
	}
	for name, value := range d.Set {
		if runtime.Bypass([]string{name + "=" + value}) != "" {
			c.say("set", "%s switches permission checks off; no description can do that", name)
		}
		if !variable.MatchString(name) {
			c.say("set", "%q is not the name of a variable", name)
		}
	}
	c.places("state", d.State)
	c.places("credentials", d.Credentials)
	c.oneOf("stop", d.Stop, "INT", "TERM", stopGroup, stopNone)
}

// places checks paths that a sandbox opens or closes.
func (c *inspector) places(field string, paths []string) {
	for _, path := range paths {
		rest, home := strings.CutPrefix(path, "~/")
		switch {
		case !home && !filepath.IsAbs(path):
			c.say(field, "found %q; allowed: an absolute path or one that begins with ~/", path)
		case home && !filepath.IsLocal(rest), home && filepath.Clean(rest) == ".", filepath.Dir(path) == path:
			c.say(field, "found %q; it may name neither a whole home folder nor the whole disk", path)
		}
	}
}

// questions checks what the probe asks.
func (c *inspector) questions(d Definition) {
	if v := d.Version; v != nil {
		c.words("version.args", v.Args)
		if n := c.expression("version.form", v.Form); v.Form == "" || n == 0 {
			c.say("version.form", "needs a regular expression with a group that is the version, such as ^agent (\\S+)$")
		}
	}
	if id := d.Identity; id != nil {
		c.words("identity.args", id.Args)
		if id.Contains == "" {
			c.say("identity.contains", "is missing; say what only this program says of itself")
		}
	}
	if l := d.Models; l != nil {
		c.words("model_list.args", l.Args)
		if d.Output == outputACP {
			c.say("model_list", "an acp agent is asked for it by the protocol: remove it")
		}
	}
	if d.SignIn != nil {
		c.signIn(d)
	}
}

func (c *inspector) signIn(d Definition) {
	s := d.SignIn
	c.expression("sign_in.out", s.Out)
	c.expression("sign_in.ok", s.OK)
	asked := s.Out != "" || s.OK != "" || s.Exit
	switch {
	case len(s.Args) > 0 && !asked:
		c.say("sign_in.args", "what the answer means is not said: give ok, out or exit")
	case len(s.Args) == 0 && asked:
		c.say("sign_in.args", "is missing; say how to ask")
	case len(s.Args) == 0 && len(s.Env) == 0 && !s.Session:
		c.say("sign_in", "says nothing; give args, env or session, or remove it")
	}
	if s.Session && d.Output != outputACP {
		c.say("sign_in.session", "only an acp agent has sessions to open: remove it")
	}
	for _, name := range s.Env {
		if !variable.MatchString(name) {
			c.say("sign_in.env", "%q is not the name of a variable", name)
		}
	}
}

func (c *inspector) words(field string, args []string) {
	if len(args) == 0 {
		c.say(field, "is missing; say how to ask")
	}
}

// expression is the number of groups of a regular expression, 0 where it is none.
func (c *inspector) expression(field, text string) int {
	re, err := regexp.Compile(text)
	if err != nil {
		c.say(field, "is no regular expression: %v", err)
		return -1
	}
	return re.NumSubexp()
}
