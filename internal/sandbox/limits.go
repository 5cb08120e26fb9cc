package sandbox

import (
	"fmt"
	"runtime"
)

// Missing says why there is no sandbox here.
func Missing() string {
	switch abi := ABI(); {
	case runtime.GOOS != "linux":
		return "there is no sandbox on " + runtime.GOOS
	case abi == 0:
		return "this kernel has no Landlock, or it is not switched on: it needs Linux 6.2 or newer with landlock among its security modules"
	default:
		return fmt.Sprintf("this kernel's Landlock is version %d, which cannot keep a file outside from being emptied: version %d is needed, Linux 6.2 or newer", abi, MinABI)
	}
}

// Limits are what Landlock of this version does not hold, for a person.
func Limits(abi int) []string {
	limits := []string{
		"the network",
		"modes, owners, times and extended attributes of files that this account may change anyway",
	}
	if abi < 5 {
		limits = append(limits, "control calls (ioctl) on devices that may be opened")
	}
	if abi < 6 {
		limits = append(limits, "signals to other processes of this account, and abstract sockets")
	}
	if abi < 9 {
		limits = append(limits, "sockets that have a path, such as those of docker and of agents for keys")
	}
	return limits
}
