package detach

import (
	"os/exec"
	"time"
)

// Open starts a program that shows something to the person, in a session of its own and
// without anything of ours open. One that ends badly within the patience is an error; one
// that goes on is left alone. No shell sees the arguments.
func Open(argv, env []string, dir string, patience time.Duration) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = env, dir, ownSession()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
		return nil
	}
}
