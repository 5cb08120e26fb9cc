package probe

import (
	"context"
	"fmt"
	"regexp"

	"orchestrate/internal/runtime"
)

// Identity is how one program is recognized.
type Identity struct {
	Name    string         // the runtime's and the executable's name
	Form    *regexp.Regexp // of the --version answer's first line; group 1 is the version
	Install string         // what a person types to install it
}

// Identify starts a profile: it finds the program, hashes it and asks for its
// version. The Asker is nil when the profile is already settled because the
// program is missing, does not answer or is a stranger of the same name.
func Identify(ctx context.Context, host runtime.Host, id Identity, env []string) (runtime.Profile, *Asker) {
	p := runtime.Profile{
		Runtime: id.Name, Kind: runtime.KindCLI, State: runtime.StateUnverified,
		Flags: map[string]string{}, ProbedAt: host.Now(),
	}
	path, err := host.LookPath(id.Name)
	if err != nil {
		p.State = runtime.StateUnavailable
		p.Reason = fmt.Sprintf("no executable named %q on PATH", id.Name)
		p.NextStep = "install it: " + id.Install
		return p, nil
	}
	exe, err := host.Hash(path)
	if err != nil {
		p.Reason = fmt.Sprintf("%s cannot be read: %v", path, err)
		p.NextStep = "install it again: " + id.Install
		return p, nil
	}
	p.Executable = &exe
	asker := &Asker{Host: host, Path: exe.Path, Env: env}
	p.Version, p.Reason = version(ctx, asker, id)
	p.Evidence = asker.Evidence()
	if p.Reason != "" {
		p.NextStep = fmt.Sprintf("run `%s --version`; if another program has that name, put the right one first on PATH", exe.Path)
		return p, nil
	}
	return p, asker
}

func version(ctx context.Context, asker *Asker, id Identity) (found, reason string) {
	answer := asker.AskBare(ctx, "--version")
	if why := Trouble(id.Name+" --version", answer); why != "" {
		return "", why
	}
	line := FirstLine(Text(answer)) // some print it on standard error
	if m := id.Form.FindStringSubmatch(line); m != nil {
		return m[1], ""
	}
	how := "answered"
	if answer.ExitCode != 0 {
		how = fmt.Sprintf("failed with exit status %d and said", answer.ExitCode)
	}
	return "", fmt.Sprintf("%s does not say that it is %s: --version %s %q", asker.Path, id.Name, how, Bounded(line, 80))
}
