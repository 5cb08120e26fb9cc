package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Trial is the self-test: a confined child tries to get out of a small place of its own,
// and whoever made the place looks at it afterwards.
type Trial struct{ root string }

// Parts of a trial's place.
const (
	inside  = "inside"  // may be changed
	outside = "outside" // may be read
	hidden  = "hidden"  // may not be read
)

// finding is what became of one thing that the child tried.
type finding struct {
	Name    string `json:"name"`
	Wanted  bool   `json:"wanted"`  // it is work that must be possible
	Refused bool   `json:"refused"` // by the kernel, as a boundary refuses
	Error   string `json:"error"`   // "" = it was possible
}

// What files of the place hold: as they were made, and after they were written to. They
// are as long as each other.
const (
	content = "as it was\n"
	changed = "overwrote\n"
)

// NewTrial makes the place in folder parent.
func NewTrial(parent string) (*Trial, error) {
	root, err := os.MkdirTemp(parent, "orchestrate-sandbox-")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	t := &Trial{root: root}
	for _, dir := range []string{inside, outside, outside + "/empty", hidden, "evidence"} {
		if err = os.Mkdir(t.in(dir), 0o700); err != nil {
			return nil, errors.Join(err, t.Remove())
		}
	}
	for _, file := range []string{outside + "/file", hidden + "/file"} {
		if err = os.WriteFile(t.in(file), []byte(content), 0o600); err != nil {
			return nil, errors.Join(err, t.Remove())
		}
	}
	if err = os.Symlink("../"+outside, t.in(inside+"/link")); err != nil {
		return nil, errors.Join(err, t.Remove())
	}
	return t, nil
}

func (t *Trial) in(path string) string { return filepath.Join(t.root, path) }

// Policy is what the child is held to.
func (t *Trial) Policy() Policy {
	return Policy{Write: []string{t.in(inside)}, Deny: []string{t.in(hidden)}}
}

// Cwd is where the child works.
func (t *Trial) Cwd() string { return t.in(inside) }

// Evidence is an empty folder for what the supervisor writes.
func (t *Trial) Evidence() string { return t.in("evidence") }

// Args are those of the child, with the version of Landlock that it is held by.
func (t *Trial) Args(abi int) []string { return []string{TrialCommand, t.root, strconv.Itoa(abi)} }

// Remove takes the place away.
func (t *Trial) Remove() error { return os.RemoveAll(t.root) }

// Judge counts what the child was refused and what it could do, from what it said and
// from the place itself. An error says what was not as it must be.
func (t *Trial) Judge(said []byte) (refused, done int, err error) {
	var all []finding
	if err := json.Unmarshal(said, &all); err != nil {
		return 0, 0, fmt.Errorf("the confined process did not report: %w", err)
	}
	var wrong []string
	for _, f := range all {
		switch {
		case f.Wanted && f.Error == "":
			done++
		case f.Wanted:
			wrong = append(wrong, "it could not "+f.Name+" ("+f.Error+")")
		case f.Refused:
			refused++
		case f.Error == "":
			wrong = append(wrong, "it could "+f.Name)
		default:
			wrong = append(wrong, "whether it can "+f.Name+" is not known ("+f.Error+")")
		}
	}
	if len(all) == 0 {
		wrong = append(wrong, "it tried nothing")
	}
	if err := t.look(); err != nil { // the strongest evidence comes first
		wrong = append([]string{err.Error()}, wrong...)
	}
	return refused, done, inShort(wrong)
}

// inShort is an error that names the first few of what is wrong, nil if nothing is.
func inShort(wrong []string) error {
	const few = 3
	if len(wrong) > few {
		wrong = append(wrong[:few:few], fmt.Sprintf("and %d more", len(wrong)-few))
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "; "))
}

// look reports what is different from what it must be, whatever the child says.
func (t *Trial) look() error {
	for _, dir := range []struct{ path, names string }{{outside, "empty file"}, {hidden, "file"}, {outside + "/empty", ""}} {
		entries, err := os.ReadDir(t.in(dir.path))
		if err != nil {
			return err
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != dir.names {
			return fmt.Errorf("outside its boundary there is %q and not %q", got, dir.names)
		}
	}
	for path, want := range map[string]string{outside + "/file": content, hidden + "/file": content, inside + "/work/moved": changed} {
		data, err := os.ReadFile(t.in(path))
		if err != nil {
			return err
		}
		if string(data) != want {
			return fmt.Errorf("%s holds %q and not %q", path, data, want)
		}
	}
	return nil
}

// trial is the confined child: it tries everything and writes what became of it.
func trial(args []string, out io.Writer) int {
	if len(args) == 0 {
		return 0 // started by the child itself, to see that it can start programs
	}
	if len(args) != 2 {
		fmt.Fprintln(os.Stderr, "orchestrate: confine-test is started by the self-test, not by hand")
		return 2
	}
	abi, err := strconv.Atoi(args[1])
	if err == nil {
		err = json.NewEncoder(out).Encode(attempts(&Trial{root: args[0]}, abi))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "orchestrate:", err)
		return 1
	}
	return 0
}
