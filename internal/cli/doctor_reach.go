package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/runtime/environ"
)

// reachable is a socket that a program of this account can use wherever it is held: no
// boundary of files keeps it from that. It is told, and never used.
type reachable struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Means    string `json:"means"`    // what can be done with it
	Variable string `json:"variable"` // that names it in this environment; "" = none does
	Withheld bool   `json:"withheld"` // from jobs
}

// service is something that listens for programs of this account.
type service struct {
	name, means string
	variable    string   // that names its socket
	places      []string // where it is by default; a leading $NAME is a variable's value
}

// services are those with which one gets out of a boundary, or to a person's keys.
// uid is this account's.
func services(uid int) []service {
	user := fmt.Sprintf("/run/user/%d/", uid)
	return []service{
		{"docker", "whoever may write to it is as good as root", "DOCKER_HOST", []string{
			"/var/run/docker.sock", "$XDG_RUNTIME_DIR/docker.sock", "$HOME/.docker/run/docker.sock", "$HOME/.docker/desktop/docker.sock",
		}},
		{"podman", "it starts programs outside", "CONTAINER_HOST", []string{"/run/podman/podman.sock", "$XDG_RUNTIME_DIR/podman/podman.sock"}},
		{"containerd", "whoever may write to it is as good as root", "CONTAINERD_ADDRESS", []string{"/run/containerd/containerd.sock"}},
		{"the session's bus", "it starts programs outside", "DBUS_SESSION_BUS_ADDRESS", []string{"$XDG_RUNTIME_DIR/bus", user + "bus"}},
		{"ssh-agent", "it signs with your keys", "SSH_AUTH_SOCK", nil},
		{"gpg-agent", "it signs with your keys", "GPG_AGENT_INFO", []string{"$XDG_RUNTIME_DIR/gnupg/S.gpg-agent", "$GNUPGHOME/S.gpg-agent", "$HOME/.gnupg/S.gpg-agent"}},
		{"tmux", "it types into your terminals", "TMUX", []string{
			fmt.Sprintf("$TMUX_TMPDIR/tmux-%d/default", uid), fmt.Sprintf("/tmp/tmux-%d/default", uid),
		}},
	}
}

// reachables are the sockets of services that answer here. socket resolves a path to
// that of a socket which this account may write to.
func reachables(env []string, uid int, socket func(path string) (real string, ok bool)) []reachable {
	all := []reachable{}
	for _, s := range services(uid) {
		for _, r := range s.sockets(env) {
			real, ok := socket(r.Path)
			if !ok || slices.ContainsFunc(all, func(other reachable) bool { return other.Path == real }) {
				continue
			}
			r.Path = real
			all = append(all, r)
		}
	}
	return all
}

// sockets are where a service might listen.
func (s service) sockets(env []string) (all []reachable) {
	value := environ.Value(env, s.variable)
	_, passed, _ := environ.Filter([]string{s.variable + "=" + value}, nil, nil)
	if path := socketPath(value); path != "" {
		all = append(all, reachable{Name: s.name, Path: path, Means: s.means, Variable: s.variable, Withheld: len(passed) == 0})
	}
	for _, place := range s.places {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(place, "$"), "/"); ok && strings.HasPrefix(place, "$") {
			base := environ.Value(env, name)
			if !filepath.IsAbs(base) {
				continue
			}
			place = filepath.Join(base, rest)
		}
		all = append(all, reachable{Name: s.name, Path: place, Means: s.means})
	}
	return all
}

// socketPath is the path in the address of a socket, in one of the forms that the
// variables have; "" = it has none.
func socketPath(address string) string {
	for _, prefix := range []string{"unix:path=", "unix://"} {
		if rest, ok := strings.CutPrefix(address, prefix); ok {
			address = rest
			break
		}
	}
	path := strings.FieldsFunc(address, func(r rune) bool { return r == ',' || r == ';' })
	if len(path) == 0 || !filepath.IsAbs(path[0]) {
		return ""
	}
	return path[0]
}

// text is it for a person.
func (r reachable) text() string {
	told := "no job is told of it, but any can find it"
	switch {
	case r.Withheld:
		told = r.Variable + " is kept out of jobs' environment, but any job can find it"
	case r.Variable != "":
		told = r.Variable + " tells jobs of it"
	}
	return fmt.Sprintf("%s at %s: %s; %s", r.Name, r.Path, r.Means, told)
}
