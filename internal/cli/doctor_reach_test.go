package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A socket is told once, by the variable that names it if one does; what is no socket or
// is not this account's to write is not told.
func TestReachableSockets(t *testing.T) {
	there := map[string]string{
		"/var/run/docker.sock": "/run/docker.sock", "/run/docker.sock": "/run/docker.sock", "/tmp/ssh-1/agent.7": "/tmp/ssh-1/agent.7",
		"/run/user/7/bus": "/run/user/7/bus", "/home/me/.gnupg/S.gpg-agent": "/home/me/.gnupg/S.gpg-agent", "/tmp/tmux-7/default": "/tmp/tmux-7/default",
	}
	socket := func(path string) (string, bool) { real, ok := there[path]; return real, ok }
	env := []string{
		"HOME=/home/me", "XDG_RUNTIME_DIR=/run/user/7", "DOCKER_HOST=unix:///run/docker.sock", "SSH_AUTH_SOCK=/tmp/ssh-1/agent.7",
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/7/bus,guid=77", "TMUX=/tmp/tmux-7/default,123,0", "CONTAINER_HOST=tcp://127.0.0.1:1", "GPG_AGENT_INFO=relative",
	}
	var got []string
	for _, r := range reachables(env, 7, socket) {
		got = append(got, r.text())
	}
	want := []string{
		"docker at /run/docker.sock: whoever may write to it is as good as root; DOCKER_HOST is kept out of jobs' environment, but any job can find it",
		"the session's bus at /run/user/7/bus: it starts programs outside; DBUS_SESSION_BUS_ADDRESS is kept out of jobs' environment, but any job can find it",
		"ssh-agent at /tmp/ssh-1/agent.7: it signs with your keys; SSH_AUTH_SOCK is kept out of jobs' environment, but any job can find it",
		"gpg-agent at /home/me/.gnupg/S.gpg-agent: it signs with your keys; no job is told of it, but any can find it",
		"tmux at /tmp/tmux-7/default: it types into your terminals; TMUX is kept out of jobs' environment, but any job can find it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = nil
	for _, r := range reachables(nil, 7, socket) { // by the usual places alone
		got = append(got, r.text())
	}
	want = []string{
		"docker at /run/docker.sock: whoever may write to it is as good as root; no job is told of it, but any can find it",
		"the session's bus at /run/user/7/bus: it starts programs outside; no job is told of it, but any can find it",
		"tmux at /tmp/tmux-7/default: it types into your terminals; no job is told of it, but any can find it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without an environment:\n%s", diff)
	}
}
