package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	runtimeexec "orchestrate/internal/runtime/exec"
	"orchestrate/internal/spec"
	"orchestrate/internal/ui"
)

func newOutput(sys System) *cobra.Command {
	var live, log bool
	cmd := &cobra.Command{
		Use:   "output RUN JOB",
		Short: "Print the final answer of a job, or what it says while it runs",
		Long: `Print the final answer of a job. With --follow print what the job says while it
runs, until it has settled: of an agent the events, a line each; of a plain program
its standard output; of an agent of the hosting session its answer, when it is there.
In a pipe or a file it is as it was said; a terminal is shown what it would obey, such
as escape sequences, instead of obeying.

Exit status of --follow: 0 the job has settled; 5 told to end before; 4 the run awaits
the hosting session; 130 the run was cut off; 1 the run has ended without the job, or
the output cannot be read or written; 2 usage error.
RUN is a run id or the path of a run directory, or of a worker run: JOB is then a task.`,
		Args: exactArgs("RUN", "JOB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if live {
				return followOutput(cmd.Context(), sys, args[0], args[1])
			}
			return printOutput(sys, args[0], args[1], log)
		},
	}
	cmd.Flags().BoolVar(&live, "follow", false, "print what the job says while it runs")
	cmd.Flags().BoolVar(&log, "log", false, "print all that its program printed, until now where it still runs")
	cmd.MarkFlagsMutuallyExclusive("follow", "log")
	return cmd
}

func printOutput(sys System, arg, job string, log bool) error {
	if run, is, err := workerRun(sys, arg); is || err != nil {
		if err != nil {
			return err
		}
		return workerOutput(sys, run, job, log)
	}
	run, err := openRun(sys, arg)
	if err != nil {
		return err
	}
	defer run.Close() //nolint:errcheck // opened for reading
	if err := known(run, job); err != nil {
		return err
	}
	if log {
		return printLog(sys, run, job)
	}
	return printAnswer(sys, run, job, arg)
}

func printAnswer(sys System, run *ledger.Run, job, name string) error {
	return printFile(sys, run, ledger.JobPath(job, ledger.OutputFile),
		fmt.Sprintf("job %s has no final answer in this run; `orchestrate status %s` shows where it stands", job, name))
}

// followOutput prints what a job says until it has settled.
func followOutput(ctx context.Context, sys System, arg, job string) (err error) {
	if arg, err = callWith(sys, arg, job); err != nil {
		return err
	}
	f, err := follow(sys, arg)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	if err := known(f.run, job); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.run.Dir)
	if err != nil {
		return failure(err)
	}
	ctx, stop := unlessInterrupted(ctx)
	defer stop()
	ctx, over := context.WithCancel(ctx)
	defer over()
	v := &voice{root: root, job: job, out: forReader(sys.Out)}
	defer func() { err = errors.Join(err, v.close(), root.Close()) }()
	how, err := f.until(ctx, func(r ledger.Record) {
		if r.Job == job {
			v.record(r)
		}
	}, func() {
		v.listen()
		if v.settled || v.err != nil {
			over()
		}
	})
	switch {
	case err != nil:
		return err
	case v.err != nil:
		return failure(v.err)
	case how == wasCutOff && !v.settled:
		return f.cutOff(sys.Err)
	case how == stillRuns && !v.settled:
		return f.goesOn(sys.Err)
	case how == hasParked && !v.settled:
		return f.awaits(sys.Err, sys.Now())
	case !v.settled:
		return failure(fmt.Errorf("the run has ended, and job %s is not done; `orchestrate explain %s %s` says why, `orchestrate resume %s` goes on with it", job, f.name(), job, f.name()))
	case v.handed:
		return printAnswer(sys, f.run, job, f.name())
	case v.mute:
		fmt.Fprintf(sys.Err, "job %s never ran, so it said nothing; `orchestrate explain %s %s` says why\n", job, f.name(), job)
	}
	return nil
}

// namedJobs is how many jobs an error message names.
const namedJobs = 20

// known is an error that names the jobs of the run if this one is none of them.
func known(run *ledger.Run, job string) error {
	var ids []string
	state := run.State()
	for _, j := range jobsOf(state) {
		if j.ID == job {
			return nil
		}
		ids = append(ids, j.ID)
	}
	if !slices.Contains(ids, ledger.ArbiterJob) && asksArbiter(run) {
		if job == ledger.ArbiterJob {
			return nil
		}
		ids = append(ids, ledger.ArbiterJob)
	}
	more := ""
	if n := len(ids) - namedJobs; n > 0 {
		ids, more = ids[:namedJobs], fmt.Sprintf(" and %d more", n)
	}
	return usageError(fmt.Errorf("run %s has no job %q; it has %s%s", state.RunID, job, strings.Join(ids, ", "), more))
}

// asksArbiter reports whether a run that has not come to its arbiter may do so.
func asksArbiter(run *ledger.Run) bool {
	if info, err := ledger.Begun(run.Dir); err == nil && info.Worker != "" {
		return false
	}
	data, err := run.ReadFile(ledger.SpecFile)
	if err != nil {
		return false
	}
	s, _ := spec.Parse(run.State().SpecPath, data, spec.Options{})
	return s == nil || s.Arbiter.Mode == "required" // what it names may have gone since
}

// voice is what one job says, attempt after attempt. The file stays open when a later
// attempt moves it away.
type voice struct {
	root    *os.Root
	job     string
	out     io.Writer
	plain   bool // a program without events
	started bool
	file    *os.File
	part    []byte // of a line of events
	settled bool
	mute    bool // settled without having been started
	handed  bool // to the hosting session: it says nothing before its answer
	err     error
}

func (v *voice) record(r ledger.Record) {
	switch r.Kind {
	case ledger.KindIntent:
		if v.file != nil {
			v.listen() // to the end of the attempt before
			v.fail(v.file.Close())
		}
		v.file, v.part, v.started, v.settled, v.handed = nil, nil, false, false, false
		v.plain = r.Route.Runtime == runtimeexec.Name
	case ledger.KindStarted:
		v.started = true // so the files of that name are this attempt's
	case ledger.KindAwaiting:
		v.handed = true
	case ledger.KindRequeued:
		v.settled = false
	case ledger.KindSettled:
		v.settled, v.mute = true, r.Attempt == 0
	}
}

func (v *voice) name() string {
	if v.plain {
		return ledger.StdoutFile
	}
	return ledger.EventsFile
}

// open opens the newest attempt's file.
func (v *voice) open() bool {
	if v.file != nil || !v.started {
		return v.file != nil
	}
	f, err := v.root.Open(ledger.JobPath(v.job, v.name()))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	v.fail(err)
	v.file = f
	return err == nil
}

// listen prints what has come since.
func (v *voice) listen() {
	if !v.open() || v.err != nil {
		return
	}
	if v.plain {
		_, err := io.Copy(v.out, v.file)
		v.fail(err)
		return
	}
	for in := bufio.NewReader(v.file); ; {
		line, err := in.ReadBytes('\n')
		v.part = append(v.part, line...)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				v.fail(err)
			}
			return
		}
		v.say(bytes.TrimSpace(v.part))
		v.part = v.part[:0]
	}
}

func (v *voice) say(line []byte) {
	var e runtime.Event
	if err := json.Unmarshal(line, &e); err != nil {
		v.fail(fmt.Errorf("%s of job %s: %w", ledger.EventsFile, v.job, err))
		return
	}
	if text := ui.Saying(e); text != "" {
		_, err := fmt.Fprintln(v.out, text)
		v.fail(err)
	}
}

func (v *voice) fail(err error) {
	if v.err == nil {
		v.err = err
	}
}

func (v *voice) close() error {
	if v.file == nil {
		return nil
	}
	return v.file.Close()
}
