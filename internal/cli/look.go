package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/workspace"
)

// workspaceRoot is where run ids are looked up: the git top level of the cwd,
// else the cwd.
func workspaceRoot(sys System) string {
	top, err := workspace.Top(context.Background(), sys.Cwd)
	if err != nil {
		return sys.Cwd
	}
	return top
}

// openRun finds the run that a RUN argument names.
func openRun(sys System, arg string) (*ledger.Run, error) {
	dir, err := ledger.Find(workspaceRoot(sys), arg)
	if err != nil {
		return nil, usageError(err)
	}
	run, err := ledger.Open(dir)
	if err != nil {
		return nil, failure(err)
	}
	return run, nil
}

func newStatus(sys System) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status RUN",
		Short: "Show where the jobs of a run stand",
		Long:  "Show where the jobs of a run stand, from its journal: while it runs, at most a\nquarter of a second behind.\nRUN is a run id or the path of a run directory.",
		Args:  exactArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			run, err := openRun(sys, args[0])
			if err != nil {
				return err
			}
			defer run.Close() //nolint:errcheck // opened for reading
			if asJSON {
				return json.NewEncoder(sys.Out).Encode(run.State())
			}
			return errors.Join(showState(sys, run.State()), sayIfCutOff(sys, run))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, as in state.json")
	return cmd
}

func showState(sys System, s ledger.State) error {
	fmt.Fprintf(sys.Out, "run %s: %s", s.RunID, s.Phase)
	if s.Verdict != "" {
		fmt.Fprintf(sys.Out, ", verdict %s", s.Verdict)
	}
	fmt.Fprintln(sys.Out)
	t := tabwriter.NewWriter(sys.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tSTATUS\tATTEMPT\tRUNTIME\tMODEL\tWHY")
	jobs := s.Jobs
	if s.Arbiter != nil {
		jobs = append(jobs, *s.Arbiter)
	}
	for _, j := range jobs {
		why := string(j.Reason)
		if j.Evidence != "" {
			why += ": " + untrusted.Text(j.Evidence).Line(120)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\n", j.ID, j.Status, j.Attempt, orDash(j.Runtime), show(j.Model), orDash(why))
	}
	return t.Flush()
}

// sayIfCutOff tells of a run that has not ended and that nobody carries on.
func sayIfCutOff(sys System, run *ledger.Run) error {
	if run.State().Phase == ledger.PhaseEnded {
		return nil
	}
	owned, err := ledger.Owned(run.Dir)
	if err == nil && !owned {
		fmt.Fprintf(sys.Out, "its engine is gone: this run was cut off; what it left is in %s; run the spec again\n", run.Dir)
	}
	return err
}

func newOutput(sys System) *cobra.Command {
	return &cobra.Command{
		Use:   "output RUN JOB",
		Short: "Print the final answer of a job",
		Args:  exactArgs("RUN", "JOB"),
		RunE: func(_ *cobra.Command, args []string) error {
			return printFile(sys, args[0], ledger.JobPath(args[1], ledger.OutputFile),
				fmt.Sprintf("job %s has no final answer in this run; `orchestrate status %s` shows where it stands", args[1], args[0]))
		},
	}
}

func newReport(sys System) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Print the report of a run",
		Args:  exactArgs("RUN"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := ledger.ReportFile
			if asJSON {
				name = ledger.ReportJSONFile
			}
			return printFile(sys, args[0], name, fmt.Sprintf("this run has no report yet; `orchestrate status %s` shows where it stands", args[0]))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print report.json")
	return cmd
}

// printFile prints a file of a run directory as it is.
func printFile(sys System, arg, rel, absent string) error {
	run, err := openRun(sys, arg)
	if err != nil {
		return err
	}
	defer run.Close() //nolint:errcheck // opened for reading
	data, err := run.ReadFile(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return failure(errors.New(absent))
	}
	if err != nil {
		return failure(err)
	}
	_, err = sys.Out.Write(data)
	return err
}

// printJSON prints v for programs, in a form that a person can read too.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}
