package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Landlock knows only what is allowed. So to keep one entry of a folder from being read,
// every other entry of it is allowed by itself, and the folder is not. Whatever appears
// in such a folder later is not readable either.

// maxEntries bounds how many entries of one folder are allowed one by one; what comes
// after them is not readable. No folder that people keep by hand has as many.
const maxEntries = 20_000

// allowTree adds the rules of a whole policy.
func (r *ruleset) allowTree(root *node) error {
	fd, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/ cannot be opened for the sandbox: %w", err)
	}
	defer closeFD(fd)
	return r.descend(root, entry{fd: fd, folder: true}, true)
}

// descend adds the rules for n, which may be read if its parent may be and nothing is
// said of it. Each step goes through the descriptor of the one before and follows no
// link, so that nothing planted meanwhile leads elsewhere.
func (r *ruleset) descend(n *node, at entry, read bool) error {
	switch n.mark {
	case writable:
		if strings.HasPrefix(n.path, "/dev/") { // what a device is for is done by control
			return r.allow(at.fd, at.folder, n.path, writing|controlling)
		}
		return r.allow(at.fd, at.folder, n.path, writing)
	case device:
		return r.allow(at.fd, at.folder, n.path, controlling)
	case denied:
		read = false
	case readable:
		read = true
	}
	if err := r.allowItself(n, at, read); err != nil {
		return err
	}
	for name, child := range n.below {
		if err := r.step(child, at.fd, name, read); err != nil {
			return err
		}
	}
	return nil
}

// allowItself adds the rules for n without those that are named below it.
func (r *ruleset) allowItself(n *node, at entry, read bool) error {
	if n.list {
		if err := r.allow(at.fd, at.folder, n.path, listing); err != nil {
			return err
		}
	}
	switch {
	case read && !n.holed:
		return r.allow(at.fd, at.folder, n.path, reading)
	case read:
		return r.allowOthers(n, at.fd)
	}
	return nil
}

// step goes down to a child that the policy names.
func (r *ruleset) step(child *node, parent int, name string, read bool) error {
	at, err := open(parent, name)
	if err == nil {
		defer closeFD(at.fd)
		return r.descend(child, at, read)
	}
	if path := child.needs(); path != "" {
		return fmt.Errorf("%s is to be changed in the sandbox: %s %w", path, child.path, err)
	}
	return nil // what is not there needs no rule, and a link is judged by what it leads to
}

// allowOthers lets every entry of a folder be read that the policy does not name.
func (r *ruleset) allowOthers(n *node, fd int) error {
	all, err := names(fd)
	if err != nil && n.path == "/" {
		return fmt.Errorf("/ cannot be listed, as in a sandbox: what may not be read cannot be kept apart from the rest: %w", err)
	}
	for _, name := range all {
		if n.below[name] != nil {
			continue
		}
		at, err := open(fd, name)
		if err != nil {
			continue // gone meanwhile, or a link
		}
		err = r.allow(at.fd, at.folder, filepath.Join(n.path, name), reading)
		closeFD(at.fd)
		if err != nil {
			return err
		}
	}
	return nil
}

// names are the entries of the folder that fd is open on. In one that cannot be listed
// nothing is allowed but what the policy names.
func names(fd int) ([]string, error) {
	list, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	folder := os.NewFile(uintptr(list), "folder")
	defer folder.Close()
	all, err := folder.Readdirnames(maxEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}

// entry is a file or folder that is open to be named in a rule.
type entry struct {
	fd     int
	folder bool
}

var errLink = errors.New("is a symbolic link")

// open opens an entry of a folder without following a link.
func open(parent int, name string) (entry, error) {
	fd, err := unix.Openat(parent, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return entry{}, fmt.Errorf("cannot be opened: %w", err)
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	kind := st.Mode & unix.S_IFMT
	if err == nil && kind == unix.S_IFLNK {
		err = errLink
	}
	if err != nil {
		closeFD(fd)
		return entry{}, err
	}
	return entry{fd: fd, folder: kind == unix.S_IFDIR}, nil
}

// closeFD closes a descriptor through which nothing is written.
func closeFD(fd int) { _ = unix.Close(fd) }
