// Package environ decides which environment variables a job or probe gets.
//
// It is an allow list: what a program needs to find its files, its tools and the
// network passes, and so does what its runtime names for its own sign-in and what
// the spec allows by name. Everything else stays out: other providers' keys,
// sockets of agents and daemons, and the variables by which a coding-agent session
// that hosts us would recognise itself in its child.
package environ

import (
	"net/url"
	"runtime"
	"slices"
	"strings"

	"orchestrate/internal/secret"
)

// Filter splits env (NAME=value entries) into what passes and what does not.
// adapterNames are the variables that the runtime signs in with, allow those that
// the spec names; an entry of either may end in * to mean every name that begins
// so. The names come back sorted, for the record; values never leave passed.
// Of two entries with one name the last counts, as in a shell.
func Filter(env, adapterNames, allow []string) (passed, passedNames, withheldNames []string) {
	last := map[string]int{}
	for i, entry := range env {
		name, _ := split(entry)
		last[fold(name)] = i
	}
	for i, entry := range env {
		name, value := split(entry)
		switch {
		case name == "" || last[fold(name)] != i:
		case passes(name, value, adapterNames, allow):
			passed = append(passed, entry)
			passedNames = append(passedNames, name)
		default:
			withheldNames = append(withheldNames, name)
		}
	}
	slices.Sort(passedNames)
	slices.Sort(withheldNames)
	return passed, passedNames, withheldNames
}

// WithoutKeys leaves out what looks like a key by its name.
func WithoutKeys(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _ := split(entry)
		return secret.LooksSecretName(name)
	})
}

// Sensitive says in what way a variable gives its process more than a boundary of files
// holds: it is a key, by its name or in its value, or a socket or address that something
// answers at; "" when it does not. It completes "NAME, which …".
func Sensitive(name, value string) string {
	switch {
	case secret.LooksSecretName(name):
		return "looks like a secret"
	case listed(fold(name), reach):
		return "reaches what no sandbox holds"
	case secret.Holds(value):
		return "holds what looks like a secret"
	}
	return ""
}

// Hosting reports whether a variable belongs to a session that hosts us, so that no job
// gets it, whatever its spec allows.
func Hosting(name string) bool { return hosting(fold(name)) }

// Value is a variable's value in env (NAME=value entries), "" when it is not there. Of
// two entries with one name the last counts.
func Value(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if n, value := split(entry); fold(n) == fold(name) {
			return value
		}
	}
	return ""
}

func passes(name, value string, adapterNames, allow []string) bool {
	switch key := fold(name); {
	case hosting(key):
		return false
	case listed(key, adapterNames), listed(key, allow):
		return true
	case listed(key, system), listed(key, network):
		return true
	case runtime.GOOS == "windows" && listed(key, windows):
		return true
	default:
		return listed(key, toolchain) && !looksSecret(name, value)
	}
}

// hosting says whether the variable belongs to a session that hosts us. No spec
// can allow it: the child would refuse to run, or share the session's state.
func hosting(name string) bool { return listed(name, session) }

func listed(name string, list []string) bool {
	return slices.ContainsFunc(list, func(l string) bool {
		if prefix, ok := strings.CutSuffix(l, "*"); ok {
			return strings.HasPrefix(name, fold(prefix))
		}
		return name == fold(l)
	})
}

// looksSecret: a proxy of a toolchain may carry a password in its URL, options one of a
// service.
func looksSecret(name, value string) bool {
	if secret.LooksSecretName(name) || secret.Holds(value) {
		return true
	}
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '|' || r == ' ' }) {
		u, err := url.Parse(part)
		if err == nil && u.User != nil {
			return true
		}
	}
	return false
}

func split(entry string) (name, value string) {
	name, value, _ = strings.Cut(entry, "=")
	return name, value
}

// fold makes names comparable: they ignore case on Windows only.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
