package sandbox

import (
	"errors"
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// MinABI is the oldest Landlock that can hold a boundary: before it a file outside
// could be emptied.
const MinABI = 3

// Rights. Who may change a folder may still make no device in it: for root that would
// be a way around everything.
const (
	reading = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	writing = reading | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRefer |
		ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSym | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSResolveUnix
	listing     = ll.AccessFSReadDir
	controlling = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev
	// ofFiles are the rights that make sense for what is no folder.
	ofFiles = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate |
		ll.AccessFSIoctlDev | ll.AccessFSResolveUnix
)

// ABI is the version of Landlock that this kernel has and this program can use, 0 = none.
func ABI() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return 0
	}
	if abi >= 6 {
		// Some kernels confuse threads and processes when they hold signals; the
		// library does without that there, and so must who asks it.
		if errata, err := ll.LandlockGetErrata(); err != nil || errata&2 == 0 {
			return 5
		}
	}
	return min(abi, newestABI)
}

// newestABI is the newest version of which something is used here.
const newestABI = 9

// held are the operations that are held at this version. What needs a network is not
// among them: an agent needs it.
func held(abi int) landlock.Config {
	config := landlock.V3
	for _, of := range []struct {
		abi    int
		config landlock.Config
	}{{5, landlock.V5}, {6, landlock.V6}, {newestABI, landlock.V9}} {
		if abi >= of.abi {
			config = of.config
		}
	}
	config.HandledAccessNet = 0
	return config
}

// ruleset are the rules under construction.
type ruleset struct {
	fd    int
	flags uint32
	held  uint64
	count int
}

func newRuleset(abi int) (*ruleset, error) {
	if abi < MinABI {
		return nil, errors.New(Missing())
	}
	config := held(abi)
	fd, flags, err := config.NewRulesetFD()
	if err != nil {
		return nil, fmt.Errorf("the sandbox cannot be set up: %w", err)
	}
	return &ruleset{fd: fd, flags: flags, held: uint64(config.HandledAccessFS)}, nil
}

func (r *ruleset) close() { _ = unix.Close(r.fd) } // nothing was written through it

// allow gives the rights to what fd is open on and all below it.
func (r *ruleset) allow(fd int, folder bool, path string, rights uint64) error {
	if !folder {
		rights &= ofFiles
	}
	rights &= r.held
	if rights == 0 {
		return nil
	}
	r.count++
	err := ll.LandlockAddPathBeneathRule(r.fd, &ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: rights}, 0)
	if err != nil {
		return fmt.Errorf("the sandbox cannot allow %s: %w", path, err)
	}
	return nil
}
