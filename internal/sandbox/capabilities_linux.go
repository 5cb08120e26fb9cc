package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// keptCapabilities are what is left to a program of root in the sandbox: what builds,
// packers and servers of a container are used to. The others lead around the boundary: to
// other processes (since Linux 6.16 one of them opens their environment), disks, modules.
const keptCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_SETPCAP |
	1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_NET_RAW | 1<<unix.CAP_SYS_CHROOT | 1<<unix.CAP_SETFCAP

// dropCapabilities takes all others from this thread, for good: no_new_privs is set, so
// no program that it becomes gets one back.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("this process's capabilities cannot be read: %w", err)
	}
	for i := range data {
		kept := uint32(uint64(keptCapabilities) >> (32 * i))
		data[i].Permitted &= kept
		data[i].Effective &= kept
		data[i].Inheritable &= kept
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("this process's capabilities cannot be given up: %w", err)
	}
	return nil
}
