//go:build e2e && linux

package e2e

import (
	"net"
	"strings"
	"testing"
)

// The watcher does see what outlives a program, whatever session it went to.
func TestTheWatcherSeesWhatIsLeft(t *testing.T) {
	l := newQuietLab(t)
	e, left := l.watched([]string{"sh", "-c", "setsid sleep 71 >/dev/null 2>&1 & exit 5"})
	if e.exit != 5 || len(left) != 1 || !strings.Contains(left[0], "sleep 71") && !strings.Contains(left[0], "setsid") {
		t.Errorf("exit status %d, left %q", e.exit, left)
	}
	if _, left := l.watched([]string{"true"}); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

// Nothing but the simulator can be reached: there is no other network interface.
func TestOnlyTheLoopbackIsThere(t *testing.T) {
	interfaces, err := net.Interfaces()
	ok(t, err)
	if len(interfaces) != 1 || interfaces[0].Flags&net.FlagLoopback == 0 || interfaces[0].Flags&net.FlagUp == 0 {
		t.Errorf("interfaces: %+v", interfaces)
	}
}
