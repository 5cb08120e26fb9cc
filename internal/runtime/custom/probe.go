package custom

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// Probe implements runtime.Adapter. It asks what the definition says how to ask, each
// question once, and never gives the program a prompt.
func (a adapter) Probe(ctx context.Context, host runtime.Host) runtime.Profile {
	p := runtime.Profile{
		Runtime: a.name, Kind: runtime.KindCLI, State: runtime.StateUnverified, Flags: map[string]string{}, ProbedAt: host.Now(),
		ApprovesAll: a.def.ApprovesAll,
	}
	exe, ok := a.find(host, &p)
	if !ok {
		return p
	}
	i := &interview{
		adapter: a, host: host, p: &p, given: map[string]runtime.Answer{},
		asker: &probe.Asker{Host: host, Path: exe.Path, Env: a.def.set()},
	}
	if i.all(ctx) {
		p.State = runtime.StateConstrained
	}
	p.Evidence = append(i.asker.Evidence(), i.talk...)
	return p
}

// find looks for the program.
func (a adapter) find(host runtime.Host, p *runtime.Profile) (exe runtime.Executable, ok bool) {
	name := a.def.Argv[0]
	if rest, found := strings.CutPrefix(name, "~/"); found {
		name = filepath.Join(host.Getenv("HOME"), rest)
	}
	path, err := host.LookPath(name)
	if err != nil {
		p.State = runtime.StateUnavailable
		p.Reason = fmt.Sprintf("no executable %s was found", name)
		if filepath.Base(name) == name {
			p.Reason = fmt.Sprintf("no executable named %q on PATH", name)
		}
		p.NextStep = a.install()
		return exe, false
	}
	if exe, err = host.Hash(path); err != nil {
		p.Reason, p.NextStep = fmt.Sprintf("%s cannot be read: %v", path, err), a.install()
		return exe, false
	}
	p.Executable = &exe
	return exe, true
}

func (a adapter) install() string {
	if a.def.Install != "" {
		return "install it: " + a.def.Install
	}
	return fmt.Sprintf("install it, or correct argv of runtime %s in %s", a.name, a.source)
}

// interview is one probe under way.
type interview struct {
	adapter
	host  runtime.Host
	p     *runtime.Profile
	asker *probe.Asker
	given map[string]runtime.Answer // by the words of the question
	talk  []runtime.Evidence        // what the agent was asked by the protocol
}

// all asks in the order in which the answers matter; false when one of them settled
// that the program cannot be used.
func (i *interview) all(ctx context.Context) bool {
	i.limit("without an adapter of its own: described by %s", i.source)
	for _, step := range []func(context.Context) bool{i.version, i.identity, i.help, i.signIn, i.session, i.models} {
		if !step(ctx) {
			return false
		}
	}
	i.controls()
	i.p.Limits = append(i.p.Limits, i.def.Limits...)
	return true
}

func (i *interview) limit(format string, args ...any) {
	i.p.Limits = append(i.p.Limits, fmt.Sprintf(format, args...))
}

// unverified settles the profile with a reason.
func (i *interview) unverified(next, format string, args ...any) bool {
	i.p.State, i.p.Reason, i.p.NextStep = runtime.StateUnverified, fmt.Sprintf(format, args...), next
	return false
}

// ask puts a question once; ok is false, and the profile settled, where it was not
// answered.
func (i *interview) ask(ctx context.Context, args []string) (answer runtime.Answer, ok bool) {
	key := strings.Join(args, "\x00")
	answer, asked := i.given[key]
	if !asked {
		if i.shows(args) {
			answer = i.asker.AskBare(ctx, args...)
		} else {
			answer = i.asker.Ask(ctx, nil, args...)
		}
		i.given[key] = answer
	}
	if why := probe.Trouble(i.question(args), answer); why != "" {
		return answer, i.unverified(fmt.Sprintf("run `%s` and see why it does not answer", i.question(args)), "%s", why)
	}
	return answer, true
}

// shows reports whether the question is one that shows who the program is.
func (i *interview) shows(args []string) bool {
	d := i.def
	return d.Version != nil && slices.Equal(args, d.Version.Args) || d.Identity != nil && slices.Equal(args, d.Identity.Args) ||
		slices.Equal(args, d.Help)
}

// question is how a person types it.
func (i *interview) question(args []string) string {
	return filepath.Base(i.def.Argv[0]) + " " + strings.Join(args, " ")
}

func (i *interview) version(ctx context.Context) bool {
	v := i.def.Version
	if v == nil {
		if i.def.Identity == nil {
			i.limit("nothing tells it from another program of its name")
		}
		return true
	}
	answer, ok := i.ask(ctx, v.Args)
	if !ok {
		return false
	}
	line := probe.FirstLine(probe.Text(answer))
	m := regexp.MustCompile(v.Form).FindStringSubmatch(line)
	if m == nil {
		return i.stranger(v.Args, fmt.Sprintf("`%s` answered %q", i.question(v.Args), probe.Bounded(line, 80)))
	}
	i.p.Version = m[1]
	return true
}

func (i *interview) identity(ctx context.Context) bool {
	id := i.def.Identity
	if id == nil {
		return true
	}
	answer, ok := i.ask(ctx, id.Args)
	if ok && !strings.Contains(probe.Text(answer), id.Contains) {
		return i.stranger(id.Args, fmt.Sprintf("what `%s` prints lacks %q", i.question(id.Args), id.Contains))
	}
	return ok
}

func (i *interview) stranger(args []string, why string) bool {
	return i.unverified(
		fmt.Sprintf("run `%s`; if another program has that name, put the right one first on PATH", i.question(args)),
		"%s does not say that it is %s: %s", i.asker.Path, i.name, why)
}

// help looks for every flag of the definition in the program's own help. One that
// every job gets is indispensable.
func (i *interview) help(ctx context.Context) bool {
	if len(i.def.Help) == 0 {
		i.limit("its flags are the word of %s: no help text was asked for them", i.source)
		return true
	}
	answer, ok := i.ask(ctx, i.def.Help)
	if !ok {
		return false
	}
	var wanted []string
	for _, list := range i.def.words() {
		wanted = append(wanted, flags(list.words)...)
	}
	i.p.Flags = probe.Flags(probe.Text(answer), wanted...)
	for _, flag := range flags(append(slices.Clone(i.def.Argv[1:]), i.def.PromptFlag)) {
		if !i.p.Shows(flag) {
			i.p.State = runtime.StateUnavailable
			i.p.Reason = fmt.Sprintf("the help of %s does not show %s, which jobs need", strings.TrimSpace(i.name+" "+i.p.Version), flag)
			i.p.NextStep = "update the program, or " + i.correct()
			return false
		}
	}
	return true
}

func (i *interview) correct() string {
	if i.source == ByOperator {
		return fmt.Sprintf("correct runtimes.%s.custom in the operator's configuration", i.name)
	}
	return "describe it under another name in the operator's configuration"
}

// flags are those of a list of words, without their values.
func flags(words []string) []string {
	var all []string
	for _, w := range words {
		if flag, _, _ := strings.Cut(w, "="); strings.HasPrefix(flag, "-") && strings.Trim(flag, "-") != "" {
			all = append(all, flag)
		}
	}
	return all
}

// models asks for the list. Without one the runtime's own answer decides.
func (i *interview) models(ctx context.Context) bool {
	l := i.def.Models
	if l == nil {
		return true
	}
	answer, ok := i.ask(ctx, l.Args)
	if !ok {
		return false
	}
	ids, ok := l.read(answer)
	if !ok || answer.ExitCode != 0 {
		i.limit("its models are not known: `%s` answered in a form that is not understood", i.question(l.Args))
		return true
	}
	i.asker.Summarize(fmt.Sprintf("%d models", len(ids)))
	for _, id := range ids {
		i.p.Models = append(i.p.Models, runtime.Model{ID: id})
	}
	return true
}

// controls claims what the help shows or, where it was not asked for, what the
// description says.
func (i *interview) controls() {
	if i.def.Output != outputACP {
		i.control(runtime.ControlModel, i.def.ModelArgs, "a model can be asked for")
		i.control(runtime.ControlEffort, i.def.EffortArgs, "a reasoning depth can be asked for")
	}
	i.control(runtime.ControlReadOnly, i.def.ReadOnlyArgs, "it can neither write nor run commands")
	for _, name := range []runtime.ControlName{runtime.ControlToolLimits, runtime.ControlAgent, runtime.ControlOSSandbox} {
		i.p.Controls = append(i.p.Controls, runtime.Control{Name: name, Evidence: "its description has no means for it"})
	}
}

func (i *interview) control(name runtime.ControlName, words []string, says string) {
	c := runtime.Control{Name: name, Evidence: "its description has no means for it"}
	switch missing := i.notShown(words); {
	case len(words) == 0:
	case missing != "":
		c.Evidence = "help does not show " + missing
	default:
		c.Verified = true
		c.Evidence = fmt.Sprintf("%s: with %s %s", i.source, strings.Join(words, " "), says)
		if shown := i.shown(words); shown != "" {
			c.Evidence += "; its help shows " + shown
		}
	}
	if name == runtime.ControlReadOnly && c.Verified {
		i.limit("that it can neither write nor run commands is the word of %s", i.source)
	}
	i.p.Controls = append(i.p.Controls, c)
}

// notShown is the first flag that the help does not show, "" = none, or no help was
// asked for.
func (i *interview) notShown(words []string) string { return i.def.notShown(words, *i.p) }

func (d Definition) notShown(words []string, p runtime.Profile) string {
	if len(d.Help) == 0 {
		return ""
	}
	for _, flag := range flags(words) {
		if !p.Shows(flag) {
			return flag
		}
	}
	return ""
}

func (i *interview) shown(words []string) string {
	for _, flag := range flags(words) {
		if line := i.p.Flags[flag]; line != "" {
			return cmp.Or(line, flag)
		}
	}
	return ""
}
