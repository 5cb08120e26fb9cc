package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confine holds this process to the policy that it was handed and makes it the program.
// It returns only when that failed.
func confine(path string, argv []string) int {
	unix.CloseOnExec(PolicyFD)
	unix.CloseOnExec(TroubleFD)
	trouble := os.NewFile(TroubleFD, "trouble")
	err := becomeConfined(path, argv, trouble)
	if _, unheard := trouble.WriteString(err.Error()); unheard != nil {
		fmt.Fprintln(os.Stderr, "orchestrate: confine is started by a supervisor, not by hand:", err)
	}
	return 126
}

func becomeConfined(path string, argv []string, trouble *os.File) error {
	var policy Policy
	if err := json.NewDecoder(os.NewFile(PolicyFD, "policy")).Decode(&policy); err != nil {
		return fmt.Errorf("the sandbox's policy cannot be read: %w", err)
	}
	runtime.LockOSThread() // for good: only this thread is confined, and it alone lives on
	if err := restrict(policy); err != nil {
		return err
	}
	if _, err := trouble.Write([]byte{Confined}); err != nil {
		return err
	}
	return syscall.Exec(path, argv, syscall.Environ())
}

// restrict confines the calling thread and whatever it will start.
func restrict(policy Policy) error {
	root, err := policy.tree()
	if err != nil {
		return err
	}
	rules, err := newRuleset(ABI())
	if err != nil {
		return err
	}
	defer rules.close()
	if err := rules.allowTree(root); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("privileges cannot be given up for the sandbox: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := ll.LandlockRestrictSelf(rules.fd, rules.flags); err != nil {
		return fmt.Errorf("the kernel refuses the sandbox: %w", err)
	}
	return nil
}
