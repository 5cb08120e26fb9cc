package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
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
// person's, and /dev/shm is everybody's, so they are not among them.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// Check refuses a policy that cannot be held as it is written.
func (p Policy) Check() error {
	for _, path := range slices.Concat(p.Write, p.Deny, p.Read, p.List) {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return fmt.Errorf("%q: a path of the sandbox must be absolute and clean", path)
		}
		if !utf8.ValidString(path) { // it would be another one in JSON
			return fmt.Errorf("%q: a path of the sandbox must be valid UTF-8; rename it", path)
		}
	}
	return nil
}

// tree makes the policy one tree of paths from the root down.
func (p Policy) tree() (*node, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	root := &node{path: "/"}
	root.punch("/dev")
	for _, name := range devices {
		root.at("/dev/" + name).mark = device
	}
	mounted := mounts()
	for _, path := range p.Deny {
		root.deny(path, mounted)
	}
	for _, path := range p.List {
		root.at(path).list = true
	}
	for _, path := range p.Read {
		root.at(path).mark = readable
	}
	for _, path := range p.Write {
		if err := root.write(path); err != nil {
			return nil, err
		}
	}
	return root, nil
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

// deny takes path, and what it leads to, out of what may be read, wherever it is mounted.
// What is not there needs no taking out.
func (n *node) deny(path string, mounted []mount) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return
	case err == nil:
		n.punch(real)
		for _, alias := range aliases(real, mounted) {
			n.punch(alias)
		}
	}
	n.punch(path)
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
func (n *node) write(path string) error {
	n = n.at(path)
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
