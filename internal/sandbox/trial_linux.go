package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// try is one thing that the child tries.
type try struct {
	name string
	abi  int // of Landlock from which on it is held
	do   func() error
}

// attempts tries everything that is held at this version, then the work.
func attempts(t *Trial, abi int) (all []finding) {
	for _, way := range t.waysOut() {
		if abi < way.abi {
			continue
		}
		f := finding{Name: way.name}
		if err := way.do(); err != nil {
			f.Error, f.Refused = err.Error(), refusal(err)
		}
		all = append(all, f)
	}
	for _, work := range t.work() {
		f := finding{Name: work.name, Wanted: true}
		if err := work.do(); err != nil {
			f.Error = err.Error()
		}
		all = append(all, f)
	}
	return all
}

// refusal reports whether an operation failed as it does at a boundary. Any other error
// proves nothing. EXDEV is Landlock's word for moving a file to where it would gain rights.
func refusal(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EXDEV)
}

// waysOut are attempts to change, read or reach what is outside. Where nothing holds them
// they do no harm beyond the trial's place.
func (t *Trial) waysOut() []try {
	file := t.in(outside + "/file")
	boss := fmt.Sprintf("/proc/%d/", os.Getppid())
	return []try{
		{"create a file outside", 0, func() error { return create(t.in(outside + "/new")) }},
		{"write to a file outside", 0, func() error { return overwrite(file) }},
		{"empty a file outside", 0, func() error { return unix.Truncate(file, 0) }},
		{"write through a link that leads outside", 0, func() error { return create(t.in(inside + "/link/through")) }},
		{"write through /proc/self/root", 0, func() error { return create("/proc/self/root" + t.in(outside+"/rooted")) }},
		{"write through /proc/self/cwd", 0, func() error { return create("/proc/self/cwd/../" + outside + "/up") }},
		{"rename a file over one outside", 0, func() error { return moveOver(t.in(inside+"/mine"), file) }},
		{"rename a file from outside", 0, func() error { return unix.Rename(file, t.in(inside+"/stolen")) }},
		{"link a file from outside and write to it", 0, func() error { return linkAndWrite(file, t.in(inside+"/linked")) }},
		{"make a folder outside", 0, func() error { return unix.Mkdir(t.in(outside+"/folder"), 0o700) }},
		{"remove a folder outside", 0, func() error { return unix.Rmdir(t.in(outside + "/empty")) }},
		{"remove a file outside", 0, func() error { return unix.Unlink(file) }},
		{"make a link outside", 0, func() error { return unix.Symlink("file", t.in(outside+"/alias")) }},
		{"make a device inside", 0, func() error { return unix.Mknod(t.in(inside+"/disk"), unix.S_IFBLK|0o600, 1<<8) }},
		{"read a denied file", 0, func() error { return readByte(t.in(hidden + "/file")) }},
		{"list a denied folder", 0, func() error { return list(t.in(hidden)) }},
		{"list the folder of a denied one", 0, func() error { return list(t.root) }},
		{"reach the supervisor's files through /proc", 0, func() error { return readByte(boss + "root" + file) }},
		{"reach the supervisor's folder through /proc", 0, func() error { return list(boss + "cwd/") }},
		{"read the supervisor's environment", 0, func() error { return readByte(boss + "environ") }},
		{"signal the supervisor", 6, func() error { return unix.Kill(os.Getppid(), 0) }},
	}
}

// work is what must go on in the sandbox.
func (t *Trial) work() []try {
	made, moved := t.in(inside+"/made"), t.in(inside+"/work/moved")
	return []try{
		{"create a file inside", 0, func() error { return create(made) }},
		{"make a folder inside", 0, func() error { return unix.Mkdir(t.in(inside+"/work"), 0o700) }},
		{"move a file inside", 0, func() error { return unix.Rename(made, moved) }},
		{"link a file inside", 0, func() error { return linkAndWrite(moved, t.in(inside+"/twin")) }},
		{"read a file outside", 0, func() error { return readByte(t.in(outside + "/file")) }},
		{"list a folder outside", 0, func() error { return list(t.in(outside)) }},
		{"write to /dev/null", 0, func() error { return overwrite(os.DevNull) }},
		{"start a program", 0, startItself},
	}
}

func create(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Close())
}

func overwrite(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(changed)
	return errors.Join(err, file.Close())
}

func moveOver(from, to string) error {
	if err := create(from); err != nil {
		return fmt.Errorf("nothing to move: %s", err) //nolint:errorlint // it must not look like a refusal
	}
	return unix.Rename(from, to)
}

func linkAndWrite(from, to string) error {
	if err := unix.Link(from, to); err != nil {
		return err
	}
	return overwrite(to)
}

func readByte(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = file.Read(make([]byte, 1))
	return errors.Join(err, file.Close())
}

func list(path string) error {
	_, err := os.ReadDir(path)
	return err
}

// startItself starts this program once more, to do nothing.
func startItself() error {
	pid, err := syscall.ForkExec("/proc/self/exe", []string{os.Args[0], TrialCommand}, &syscall.ProcAttr{})
	if err != nil {
		return err
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return err
	}
	if status.ExitStatus() != 0 {
		return fmt.Errorf("it ended with %v", status)
	}
	return nil
}
