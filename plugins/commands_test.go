package plugins_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/cli"
)

// help is what the program says of itself or of one command.
func help(t *testing.T, command ...string) string {
	t.Helper()
	var out strings.Builder
	if code := cli.Main(t.Context(), append(command, "--help"), cli.System{Out: &out, Err: &out, Version: "0"}); code != 0 {
		t.Fatalf("%v --help: exit status %d\n%s", command, code, out.String())
	}
	return out.String()
}

// exitStatuses is the list at the end of the help of what runs.
func exitStatuses(t *testing.T) string {
	text := help(t)
	_, list, ok := strings.Cut(text, "Exit status: ")
	if !ok {
		t.Fatalf("the help names no exit status:\n%s", text)
	}
	list, _, _ = strings.Cut(list, "\n\n")
	rows := [][]string{{"status", "means"}}
	for _, one := range strings.Split(strings.TrimSuffix(strings.Join(strings.Fields(list), " "), "."), "; ") {
		number, means, _ := strings.Cut(one, " ")
		rows = append(rows, []string{number, means})
	}
	return table(rows)
}

var (
	listed  = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +(\S.*)$`)
	flagged = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)(?: (\S+))? {2,}(\S.*)$`)
	usage   = regexp.MustCompile(`(?m)^Usage:\n  (.*)$`)
)

// commandsAndFlags has each command with its line of use and its flags.
func commandsAndFlags(t *testing.T) string {
	var b strings.Builder
	for _, name := range commands(t) {
		text := help(t, name)
		if inner := subcommands(text); len(inner) > 0 {
			for _, sub := range inner {
				describe(&b, help(t, name, sub[1]), sub[2])
			}
			continue
		}
		describe(&b, text, about(t, name))
	}
	return b.String()
}

func describe(b *strings.Builder, text, short string) {
	line := usage.FindStringSubmatch(text)[1]
	b.WriteString("**`" + strings.TrimSuffix(line, " [flags]") + "`** " + short + ".\n\n")
	wrote := false
	for _, f := range flagged.FindAllStringSubmatch(text[strings.Index(text, "\nUsage:"):], -1) {
		if f[1] == "help" {
			continue
		}
		name := "--" + f[1]
		if f[2] != "" {
			name += " " + f[2]
		}
		b.WriteString("- `" + name + "`: " + f[3] + "\n")
		wrote = true
	}
	if wrote {
		b.WriteString("\n")
	}
}

// commands are those that the help lists, in the order of the alphabet.
func commands(t *testing.T) (all []string) {
	t.Helper()
	for _, c := range subcommands(help(t)) {
		if c[1] != "help" {
			all = append(all, c[1])
		}
	}
	slices.Sort(all)
	return all
}

func about(t *testing.T, name string) string {
	t.Helper()
	for _, c := range subcommands(help(t)) {
		if c[1] == name {
			return c[2]
		}
	}
	t.Fatalf("no command %s", name)
	return ""
}

// subcommands are the commands that a help lists between its usage and its flags.
func subcommands(text string) [][]string {
	_, text, _ = strings.Cut(text, "\nUsage:\n")
	_, text, _ = strings.Cut(text, "\n\n")
	text, _, _ = strings.Cut(text, "\nFlags:\n")
	return slices.DeleteFunc(listed.FindAllStringSubmatch(text, -1), func(c []string) bool {
		return c[1] == "orchestrate" // an example
	})
}
