package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAliases(t *testing.T) {
	t.Parallel()
	table := parseMounts(strings.Join([]string{
		`21 1 8:1 / / rw - ext4 /dev/sda1 rw`,
		`22 21 8:2 / /home rw shared:1 - ext4 /dev/sda2 rw`,
		`23 21 8:2 /u /mnt/of\040u rw - ext4 /dev/sda2 rw`,
		`24 21 8:2 /u/.ssh/keys /srv/keys rw - ext4 /dev/sda2 rw`,
		`25 21 8:2 /other /mnt/other rw - ext4 /dev/sda2 rw`,
		`26 21 8:3 / /mnt/old rw - ext4 /dev/sda3 rw`,
		`27 21 8:1 /etc /mnt/etc rw - ext4 /dev/sda1 rw`,
		`a line of another kind`,
	}, "\n"))
	for path, want := range map[string][]string{
		"/home/u/.ssh":        {"/mnt/of u/.ssh", "/srv/keys"},
		"/mnt/of u/.ssh":      {"/home/u/.ssh", "/srv/keys"},
		"/home/u/.ssh/keys/a": {"/mnt/of u/.ssh/keys/a", "/srv/keys/a"},
		"/home/uu":            nil,
		"/etc/shadow":         {"/mnt/etc/shadow"},
		"/mnt/old/file":       nil,
	} {
		got := aliases(path, table)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if len(mounts()) == 0 {
		t.Error("this machine has no mounts at all")
	}
}

// outline is what a tree says, a line for each path that is named.
func outline(n *node) string {
	line := n.path
	for _, is := range []struct {
		so   bool
		word string
	}{{n.mark == denied, "denied"}, {n.mark == readable, "read"}, {n.mark == writable, "write"}, {n.list, "list"}, {n.holed, "holed"}} {
		if is.so {
			line += " " + is.word
		}
	}
	var lines []string
	for _, child := range n.below {
		lines = append(lines, outline(child))
	}
	slices.Sort(lines)
	return strings.Join(append([]string{line}, lines...), "\n")
}

func TestTheTreeOfAPolicy(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"run", "run/own", "keys", "ws"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("keys", filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (all []string) {
		for _, n := range names {
			all = append(all, filepath.Join(dir, n))
		}
		return all
	}
	policy := Policy{Deny: in("run", "alias", "gone/entirely"), Read: in("run/own"), Write: in("ws", "run/own/tree"), List: in("")}
	root, err := policy.tree()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		" list holed", "/alias denied", "/keys denied", "/run denied", "/run/own read", "/run/own/tree write", "/ws write",
	}, "\n")
	if got := strings.ReplaceAll(outline(root.at(dir)), dir, ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if dev := root.at("/dev"); dev.mark != denied || dev.at("/null").mark != device || dev.below["shm"] != nil || dev.below["pts"] != nil {
		t.Errorf("/dev: %s", outline(dev))
	}
}

// What is allowed at a version is never more than what is held at it, or the kernel
// would refuse the rule, and the oldest version that is used holds all changes.
func TestWhatEachVersionHolds(t *testing.T) {
	t.Parallel()
	const changing = writing &^ (reading | 1<<16)
	for abi := MinABI; abi <= newestABI; abi++ {
		config := held(abi)
		if uint64(config.HandledAccessFS)&changing != changing {
			t.Errorf("version %d does not hold every change: %v", abi, config)
		}
		if config.HandledAccessNet != 0 {
			t.Errorf("version %d holds the network", abi)
		}
		if (abi >= 6) != (config.Scoped != 0) {
			t.Errorf("version %d: signals %v", abi, config.Scoped)
		}
		if got := len(Limits(abi)); got < 2 || got > 5 {
			t.Errorf("version %d has %d limits", abi, got)
		}
	}
	if _, err := newRuleset(2); err == nil || err.Error() != Missing() {
		t.Errorf("version 2 is not enough: %v", err)
	}
}
