package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// mark is what a policy says of one path.
type mark int

const (
	unmarked mark = iota
	denied
	readable
	writable
	device // may be read, written and controlled, and has nothing below
)

// node is a folder or file that a policy names, or an ancestor of one.
type node struct {
	path  string
	mark  mark
	list  bool // its names may be listed
	holed bool // something below is denied
	below map[string]*node
}

// devices are all of /dev that a program may use. The terminals of /dev/pts are the
// person's, so they are not among them.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// tree makes the policy one tree of paths from the root down.
func (p Policy) tree() (*node, error) {
	root := &node{path: "/"}
	var problems []error
	add := func(paths []string, set func(*node, string) error) {
		for _, path := range paths {
			if !filepath.IsAbs(path) || filepath.Clean(path) != path {
				problems = append(problems, fmt.Errorf("%q: a path of the sandbox must be absolute and clean", path))
				continue
			}
			if err := set(root, path); err != nil {
				problems = append(problems, err)
			}
		}
	}
	add([]string{"/dev"}, deny)
	for _, name := range devices {
		root.at("/dev/" + name).mark = device
	}
	add(p.Deny, deny)
	add(p.List, func(n *node, path string) error { n.at(path).list = true; return nil })
	add(p.Read, func(n *node, path string) error { n.at(path).mark = readable; return nil })
	add(p.Write, write)
	return root, errors.Join(problems...)
}

// at is the node of path, made if it is not there.
func (n *node) at(path string) *node {
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		next := n.below[name]
		if next == nil {
			next = &node{path: filepath.Join(n.path, name)}
			if n.below == nil {
				n.below = map[string]*node{}
			}
			n.below[name] = next
		}
		n = next
	}
	return n
}

// deny takes path, and what it leads to, out of what may be read. What is not there
// needs no taking out.
func deny(root *node, path string) error {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case err != nil:
		real = path // it is denied by the name that it has
	}
	for _, p := range []string{path, real} {
		root.punch(p)
	}
	return nil
}

// punch marks path as denied and its ancestors as having a hole.
func (n *node) punch(path string) {
	n.at(path).mark = denied
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		n.at(dir).holed = true
		if dir == "/" {
			return
		}
	}
}

// write lets path be changed, with all that is below it.
func write(root *node, path string) error {
	n := root.at(path)
	switch {
	case path == "/":
		return errors.New("the sandbox cannot let everything be changed: name folders below /")
	case n.holed:
		return fmt.Errorf("%s cannot be both changed and kept from being read in part: something below it is denied", path)
	}
	n.mark = writable
	return nil
}

// needs is a path at or below n that has to be there, "" if there is none.
func (n *node) needs() string {
	if n.mark == writable {
		return n.path
	}
	for _, child := range n.below {
		if path := child.needs(); path != "" {
			return path
		}
	}
	return ""
}
