package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/secret"
)

// words are those of a command line that the program itself gets and may take for
// flags. It may be started by way of another.
func words(cmd runtime.Command, p runtime.Profile) []string {
	at := slices.Index(cmd.Argv, p.Executable.Path)
	if at < 0 {
		return nil
	}
	words := cmd.Argv[at+1:]
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	return words
}

// name is a flag without its value, or "" for a word that is no flag.
func name(word string) string {
	if word == "-" || !strings.HasPrefix(word, "-") {
		return ""
	}
	flag, _, _ := strings.Cut(word, "=")
	return flag
}

// shown reports whether help shows the flag, by this name or as another name on the
// line of one that was looked for.
func shown(p runtime.Profile, flag string) bool {
	for key, line := range p.Flags {
		if name(key) == flag {
			return true
		}
		for field := range strings.FieldsSeq(line) {
			field = strings.TrimRight(field, ",")
			if !strings.HasPrefix(field, "-") {
				break
			}
			if field == flag {
				return true
			}
		}
	}
	return false
}

// commandShape: commands can be started, ended and read.
func commandShape(t *testing.T, s Subject) (faults []string) {
	p := working(t, s)
	built := 0
	for _, req := range requests(t, p) {
		cmd, err := s.Adapter.Command(req, p)
		if err != nil {
			continue
		}
		built++
		switch {
		case words(cmd, p) == nil && !bytes.Contains(cmd.Stdin, []byte(p.Executable.Path)):
			faults = append(faults, fmt.Sprintf("%q does not start the program that was probed", cmd.Argv))
		case !slices.Contains([]string{"INT", "TERM", "TERM-GROUP", ""}, cmd.PoliteStop):
			faults = append(faults, fmt.Sprintf("%q is no polite signal", cmd.PoliteStop))
		case cmd.Answer != runtime.AnswerFromStream && cmd.Answer != runtime.AnswerFromStdout:
			faults = append(faults, fmt.Sprintf("%q is no source of an answer", cmd.Answer))
		case cmd.Decoder.Runtime == "" || s.Adapter.Decoder(cmd.Decoder) == nil:
			faults = append(faults, fmt.Sprintf("nothing reads its stream: %+v", cmd.Decoder))
		}
		if again, err := s.Adapter.Command(req, p); err != nil || !slices.Equal(again.Argv, cmd.Argv) {
			faults = append(faults, fmt.Sprintf("the same request gives %q and then %q, %v", cmd.Argv, again.Argv, err))
		}
	}
	if built == 0 {
		faults = append(faults, "no request can be run at all")
	}
	return faults
}

// commandFlags: a flag that help does not show is not used.
func commandFlags(t *testing.T, s Subject) (faults []string) {
	p := working(t, s)
	for _, req := range requests(t, p) {
		if cmd, err := s.Adapter.Command(req, p); err == nil {
			faults = append(faults, unshown(cmd, p)...)
		}
	}
	return faults
}

func unshown(cmd runtime.Command, p runtime.Profile) (faults []string) {
	for _, word := range words(cmd, p) {
		if flag := name(word); flag != "" && !shown(p, flag) {
			faults = append(faults, fmt.Sprintf("%q is given, and help does not show it", word))
		}
	}
	return faults
}

// commandLosesFlags: where help has lost one flag, the flag goes from every command,
// or the command is refused with the flag's name.
func commandLosesFlags(t *testing.T, s Subject) (faults []string) {
	p := working(t, s)
	wanted := requests(t, p)
	if len(flagsOf(p)) == 0 {
		faults = append(faults, "the profile keeps no flag with the line of help that shows it")
	}
	for flag := range flagsOf(p) {
		lacking, err := probed(s, s.Machine(t), withoutFlag(flag))
		if err != nil {
			return append(faults, fmt.Sprintf("without %s %v", flag, err))
		}
		for _, fault := range unsettled(lacking) {
			faults = append(faults, fmt.Sprintf("without %s: %s", flag, fault))
		}
		for _, req := range wanted {
			if _, err := s.Adapter.Command(req, p); err != nil {
				continue // it was not possible before either
			}
			faults = append(faults, stillUses(s, req, lacking, flag)...)
		}
	}
	return faults
}

func stillUses(s Subject, req runtime.Request, p runtime.Profile, flag string) (faults []string) {
	if !p.Routable() {
		if !strings.Contains(p.Reason, flag) {
			faults = append(faults, fmt.Sprintf("without %s it is %s for a reason that does not name it: %s", flag, p.State, p.Reason))
		}
		return faults
	}
	cmd, err := s.Adapter.Command(req, p)
	switch {
	case err == nil && slices.ContainsFunc(words(cmd, p), func(word string) bool { return name(word) == flag }):
		faults = append(faults, fmt.Sprintf("%s is used though help does not show it: %q", flag, cmd.Argv))
	case err != nil && !strings.Contains(err.Error()+strings.Join(p.Limits, " "), flag):
		faults = append(faults, fmt.Sprintf("without %s the command is refused, and neither that nor a limit names it: %v", flag, err))
	}
	return faults
}

// commandLosesValues: the same where help still shows the flag, but no longer the
// value that is given to it.
func commandLosesValues(t *testing.T, s Subject) (faults []string) {
	p := working(t, s)
	wanted := requests(t, p)
	for key, line := range p.Flags {
		flag, value, ok := strings.Cut(key, "=")
		if !ok || name(line) == "" {
			continue // what shows it is no line of help
		}
		lacking, err := probed(s, s.Machine(t), withoutValue(flag, value))
		if err != nil {
			return append(faults, fmt.Sprintf("without %s %v", key, err))
		}
		for _, req := range wanted {
			if cmd, err := s.Adapter.Command(req, lacking); err == nil && lacking.Routable() && gives(words(cmd, lacking), line, flag, value) {
				faults = append(faults, fmt.Sprintf("%s is given though help does not show that value: %q", key, cmd.Argv))
			}
		}
	}
	return faults
}

// gives reports whether a command line gives the value to the flag, under any of the
// names that its line of help has.
func gives(words []string, line, flag, value string) bool {
	names := []string{flag}
	for field := range strings.FieldsSeq(line) {
		names = append(names, strings.TrimRight(field, ","))
	}
	for i, word := range words {
		joined := strings.HasSuffix(word, "="+value) && slices.Contains(names, name(word))
		apart := word == value && i > 0 && strings.HasPrefix(words[i-1], "-") && slices.Contains(names, words[i-1])
		if joined || apart {
			return true
		}
	}
	return false
}

// withoutValue takes a word out of the definition of one flag.
func withoutValue(flag, value string) bend {
	return func(_ int, q runtime.Question, a runtime.Answer) runtime.Answer {
		if !isHelp(q) {
			return a
		}
		var kept []string
		inside := false
		for line := range strings.SplitSeq(string(a.Stdout), "\n") {
			if strings.HasPrefix(strings.TrimLeft(line, " "), "-") {
				inside = slices.Contains(strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' }), flag)
			}
			if inside {
				line = strings.ReplaceAll(line, value, "zzz")
			}
			kept = append(kept, line)
		}
		a.Stdout = []byte(strings.Join(kept, "\n"))
		return a
	}
}

// flagsOf are the names of all flags that help shows of those looked for. What a self-test
// showed is in no help.
func flagsOf(p runtime.Profile) map[string]bool {
	flags := map[string]bool{}
	for key, line := range p.Flags {
		if flag := name(key); flag != "" && name(line) != "" {
			flags[flag] = true
		}
	}
	return flags
}

func withoutFlag(flag string) bend {
	return func(_ int, q runtime.Question, a runtime.Answer) runtime.Answer {
		if isHelp(q) {
			a.Stdout = []byte(probetest.Without(string(a.Stdout), flag))
		}
		return a
	}
}

// commandHostile: no word of a request becomes a flag.
func commandHostile(t *testing.T, s Subject) (faults []string) {
	p := working(t, s)
	dir := t.TempDir()
	for _, word := range []string{"--yolo", "-y", "--dangerously-skip-permissions", "--config=x", "-", "@/etc/passwd", "a b", "a,b", "*", "x;y", ""} {
		for _, access := range []runtime.Access{runtime.AccessRead, runtime.AccessShell} {
			base := runtime.Request{Prompt: prompt, Dir: dir, Out: dir, Access: access}
			for _, change := range []func(*runtime.Request){
				func(r *runtime.Request) { r.Model = word },
				func(r *runtime.Request) { r.Resume = word },
				func(r *runtime.Request) { r.Agent = word },
				func(r *runtime.Request) { r.Effort = word },
				func(r *runtime.Request) { r.AllowedTools = []string{word} },
				func(r *runtime.Request) { r.DisallowedTools = []string{word} },
				func(r *runtime.Request) { r.ReadDirs = []string{"/" + word} },
			} {
				req := base
				change(&req)
				if cmd, err := s.Adapter.Command(req, p); err == nil {
					faults = append(faults, unshown(cmd, p)...)
				}
			}
		}
	}
	return faults
}

// commandSecrets: the prompt goes over standard input, and the value of no secret
// variable gets into a command line, a question or the profile.
func commandSecrets(t *testing.T, s Subject) (faults []string) {
	const value = "conformance-secret-value"
	host := s.Machine(t)
	env := map[string]string{}
	for name, v := range host.Env {
		env[name] = v
	}
	for _, name := range s.Adapter.SignInEnv() {
		if secret.LooksSecretName(name) {
			env[name] = value
		}
	}
	host.Env = env
	p, err := probed(s, host, asRecorded)
	if err != nil {
		return []string{err.Error()}
	}
	for _, q := range host.Asked {
		if strings.Contains(strings.Join(append(slices.Clone(q.Argv), q.Env...), " "), value) {
			faults = append(faults, fmt.Sprintf("a secret is in the question %q", q.Argv))
		}
	}
	if text, err := json.Marshal(p); err != nil || bytes.Contains(text, []byte(value)) {
		faults = append(faults, fmt.Sprintf("a secret is in the profile, or it cannot be written: %v", err))
	}
	for _, req := range requests(t, p) {
		if cmd, err := s.Adapter.Command(req, p); err == nil {
			faults = append(faults, leaks(s, cmd, value)...)
		}
	}
	return faults
}

func leaks(s Subject, cmd runtime.Command, value string) (faults []string) {
	line := strings.Join(cmd.Argv, " ")
	quoted, err := json.Marshal(prompt)
	if err != nil {
		return []string{err.Error()}
	}
	if strings.Contains(line+strings.Join(cmd.Env, " "), value) {
		faults = append(faults, fmt.Sprintf("a secret is in the command %q", cmd.Argv))
	}
	inLine := strings.Contains(line, "conformance-prompt")
	switch {
	case inLine && !s.PromptInArgv:
		faults = append(faults, fmt.Sprintf("the prompt is in the command line: %q", cmd.Argv))
	case inLine && !strings.Contains(strings.Join(cmd.Limits, " "), "prompt"):
		faults = append(faults, fmt.Sprintf("the prompt is in the command line, and no limit says so: %q", cmd.Limits))
	case !inLine && string(cmd.Stdin) != prompt && !bytes.Contains(cmd.Stdin, quoted):
		faults = append(faults, fmt.Sprintf("the prompt arrives as %q", cmd.Stdin))
	}
	return faults
}

// commandRefuses: what no evidence supports is an error, not a guess.
func commandRefuses(t *testing.T, s Subject) (faults []string) {
	p := working(t, s)
	dir := t.TempDir()
	base := runtime.Request{Prompt: prompt, Dir: dir, Out: dir, Access: runtime.AccessShell}
	for what, change := range map[string]func(*runtime.Request){
		"an effort that nothing lists": func(r *runtime.Request) { r.Effort = "no-such-effort" },
		"an agent that nothing lists":  func(r *runtime.Request) { r.Agent = "no-such-agent" },
		"a tool that does not exist":   func(r *runtime.Request) { r.AllowedTools = []string{"no_such_tool"} },
		"a flag as a tool":             func(r *runtime.Request) { r.DisallowedTools = []string{"--yolo"} },
		"an access that is none":       func(r *runtime.Request) { r.Access = "all" },
	} {
		req := base
		change(&req)
		if cmd, err := s.Adapter.Command(req, p); err == nil {
			faults = append(faults, fmt.Sprintf("%s is taken: %q", what, cmd.Argv))
		}
	}
	if _, err := s.Adapter.Command(base, runtime.Profile{}); err == nil {
		faults = append(faults, "a command is built for a program that was not found")
	}
	return faults
}

// commandControls: a command claims no control that the probe did not verify. A reader
// claims read-only, and an answer that is asked for in a form claims that, exactly
// where it holds.
func commandControls(t *testing.T, s Subject) []string {
	p := working(t, s)
	faults := oddClaims(t, s, p)
	p.Controls = nil
	return append(faults, oddClaims(t, s, p)...)
}

func oddClaims(t *testing.T, s Subject, p runtime.Profile) (faults []string) {
	for _, req := range requests(t, p) {
		cmd, err := s.Adapter.Command(req, p)
		if err != nil {
			continue
		}
		for _, c := range cmd.Controls {
			if !p.Has(c) {
				faults = append(faults, fmt.Sprintf("%s access claims control %q, which is not verified", req.Access, c))
			}
		}
		claims, holds := slices.Contains(cmd.Controls, runtime.ControlReadOnly), p.Has(runtime.ControlReadOnly) && !req.Leaves
		if claims != (holds && req.Access == runtime.AccessRead) {
			faults = append(faults, fmt.Sprintf("%s access: claims to be read-only: %t; verified: %t", req.Access, claims, holds))
		}
		claims, holds = slices.Contains(cmd.Controls, runtime.ControlAnswerForm), p.Has(runtime.ControlAnswerForm)
		if claims != (holds && req.AnswerSchema != nil) {
			faults = append(faults, fmt.Sprintf("%s access: claims to hold the answer to a schema: %t; verified: %t; given one: %t",
				req.Access, claims, holds, req.AnswerSchema != nil))
		}
	}
	return faults
}
