//go:build linux

package supervise_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orchestrate/internal/sandbox"
	"orchestrate/internal/supervise"
)

// BenchmarkTrue is the whole cost of a job that does nothing, beside a plain
// os/exec loop that keeps no evidence. Read the CPU figures; wall time says little
// on a busy machine.
func BenchmarkTrue(b *testing.B) {
	b.Run("exec", func(b *testing.B) {
		report := cpuPerJob(b)
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
		report()
	})
	b.Run("slot", func(b *testing.B) {
		root := b.TempDir()
		inv := job(b, "")
		inv.Argv, inv.Decoder.Runtime = []string{"/bin/true"}, "blind"
		report := cpuPerJob(b)
		slot, err := supervise.Start(b.Context(), supervisor(b), version)
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ {
			inv.Dir = filepath.Join(root, strconv.Itoa(i))
			if err := unix.Mkdir(inv.Dir, 0o700); err != nil {
				b.Fatal(err)
			}
			if exit, err := slot.Run(b.Context(), inv, nil, nil); err != nil || exit.ExitCode == nil {
				b.Fatal(exit, err)
			}
		}
		if err := slot.Close(); err != nil {
			b.Fatal(err)
		}
		report()
	})
}

// cpuPerJob returns a function that reports user and system time per iteration, of
// this process and of all that it has reaped.
func cpuPerJob(b *testing.B) func() {
	self, children := cpu(unix.RUSAGE_SELF), cpu(unix.RUSAGE_CHILDREN)
	return func() {
		b.ReportMetric(float64((cpu(unix.RUSAGE_SELF)-self).Microseconds())/float64(b.N), "engine-µs/job")
		b.ReportMetric(float64((cpu(unix.RUSAGE_CHILDREN)-children).Microseconds())/float64(b.N), "children-µs/job")
	}
}

func cpu(who int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkFlood sends 1 GiB through a slot, beside the floor: a loop that reads
// the same program's pipe in large chunks and drops them.
func BenchmarkFlood(b *testing.B) {
	const size = 1 << 30
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			drop(b, exec.Command("head", "-c", strconv.Itoa(size), "/dev/zero"))
		}
	})
	for _, name := range []string{"blind", "words", "words, held"} {
		decoder, _, held := strings.Cut(name, ",")
		b.Run(name, func(b *testing.B) {
			slot := start(b)
			b.SetBytes(size)
			for b.Loop() {
				inv := job(b, "")
				inv.Argv = []string{"head", "-c", strconv.Itoa(size), "/dev/zero"}
				inv.Decoder.Runtime = decoder
				if held {
					inv.Sandbox = &sandbox.Policy{}
				}
				runIn(b, slot, inv)
			}
		})
	}
}

func drop(b *testing.B, cmd *exec.Cmd) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w.Close()
	widen(r)
	buf := make([]byte, 256<<10)
	for {
		if _, err := r.Read(buf); err != nil {
			break
		}
	}
	r.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}

func widen(r *os.File) {
	_, _ = unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, 1<<20)
}

// BenchmarkConfined is what the sandbox adds to the start of a program: in a plain home,
// and where every entry of a folder of 2,000 has to be allowed by itself.
func BenchmarkConfined(b *testing.B) {
	big := b.TempDir()
	for i := range 2000 {
		if err := os.WriteFile(filepath.Join(big, "entry"+strconv.Itoa(i)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for name, policy := range map[string]*sandbox.Policy{
		"free":                     nil,
		"held":                     {},
		"held, one of 2000 denied": {Deny: []string{filepath.Join(big, "entry7")}},
	} {
		b.Run(name, func(b *testing.B) {
			inv := job(b, "")
			inv.Argv, inv.Decoder.Runtime, inv.Sandbox = []string{"/bin/true"}, "blind", policy
			report := cpuPerJob(b)
			slot, err := supervise.Start(b.Context(), supervisor(b), version)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if exit, err := slot.Run(b.Context(), inv, nil, nil); err != nil || exit.ExitCode == nil {
					b.Fatal(exit, err)
				}
			}
			if err := slot.Close(); err != nil {
				b.Fatal(err)
			}
			report()
		})
	}
}
