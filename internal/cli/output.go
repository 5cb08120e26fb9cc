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

	"github.com/spf13/cobra"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	runtimeexec "orchestrate/internal/runtime/exec"
	"orchestrate/internal/ui"
)

func newOutput(sys System) *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use:   "output RUN JOB",
		Short: "Print the final answer of a job, or what it says while it runs",
		Long: `Print the final answer of a job. With --follow print what the job says while it
runs, until it has settled: of an agent the events, a line each; of a plain program
its standard output.
RUN is a run id or the path of a run directory.`,
		Args: exactArgs("RUN", "JOB"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if live {
				return followOutput(cmd.Context(), sys, args[0], args[1])
			}
			return printFile(sys, args[0], ledger.JobPath(args[1], ledger.OutputFile),
				fmt.Sprintf("job %s has no final answer in this run; `orchestrate status %s` shows where it stands", args[1], args[0]))
		},
	}
	cmd.Flags().BoolVar(&live, "follow", false, "print what the job says while it runs")
	return cmd
}

// followOutput prints what a job says until it has settled.
func followOutput(ctx context.Context, sys System, arg, job string) (err error) {
	f, err := follow(sys, arg)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, f.close()) }()
	if !knows(f.run.State(), job) {
		return usageError(fmt.Errorf("run %s has no job %q; `orchestrate status %s` lists them", f.run.ID, job, f.run.ID))
	}
	root, err := os.OpenRoot(f.run.Dir)
	if err != nil {
		return failure(err)
	}
	ctx, stop := unlessInterrupted(ctx)
	defer stop()
	ctx, over := context.WithCancel(ctx)
	defer over()
	v := &voice{root: root, job: job, out: sys.Out}
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
		sayCutOff(sys.Err, f.run)
	case how == stillRuns && !v.settled:
		fmt.Fprintf(sys.Err, "the run goes on: orchestrate wait %s\n", f.run.ID)
	}
	return nil
}

func knows(s ledger.State, job string) bool {
	for _, j := range s.Jobs {
		if j.ID == job {
			return true
		}
	}
	return job == ledger.ArbiterJob && s.Arbiter != nil
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
	err     error
}

func (v *voice) record(r ledger.Record) {
	switch r.Kind {
	case ledger.KindIntent:
		if v.file != nil {
			v.listen() // to the end of the attempt before
			v.fail(v.file.Close())
		}
		v.file, v.part, v.started, v.settled = nil, nil, false, false
		v.plain = r.Route.Runtime == runtimeexec.Name
	case ledger.KindStarted:
		v.started = true // so the files of that name are this attempt's
	case ledger.KindRequeued:
		v.settled = false
	case ledger.KindSettled:
		v.settled = true
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
