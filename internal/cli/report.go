package cli

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"time"

	"github.com/spf13/cobra"

	"orchestrate/internal/detach"
	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/report"
	"orchestrate/internal/runtime/environ"
	"orchestrate/internal/secret"
)

// The forms of a report.
const (
	formMarkdown = "md"
	formHTML     = "html"
	formJSON     = "json"
)

// reportFiles are what an ended run has on disk.
var reportFiles = map[string]string{formMarkdown: ledger.ReportFile, formHTML: ledger.ReportHTMLFile, formJSON: ledger.ReportJSONFile}

type reportOptions struct {
	run  string
	form string
	json bool
	open bool
}

func newReport(sys System) *cobra.Command {
	opts := reportOptions{}
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Print the report of a run, or open it",
		Long: `Print the report of a run. Of an ended run it is the file in its directory: report.md,
or what --format names. Of one that still runs, or was cut off, it is made anew from
what is recorded so far; it says so first, has no verdict and counts for nothing in
the history.

With --open the path of report.html is printed, and at a terminal the page is also
opened with the person's own program for that (xdg-open, open; on Windows the one for
files of that kind). Of a run that has not ended it is report-so-far.html in the run
directory: what is known now, made anew each time and gone when the run has ended.
RUN is a run id or the path of a run directory.`,
		Args: exactArgs("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.run = args[0]
			return runReport(cmd.Context(), sys, opts)
		},
	}
	cmd.Flags().StringVar(&opts.form, "format", formMarkdown, "`FORM` of the report: md, html or json")
	cmd.Flags().BoolVar(&opts.json, "json", false, "the same as --format json")
	cmd.Flags().BoolVar(&opts.open, "open", false, "print the path of the report as a page, and open it at a terminal")
	cmd.MarkFlagsMutuallyExclusive("open", "format")
	cmd.MarkFlagsMutuallyExclusive("open", "json")
	cmd.MarkFlagsMutuallyExclusive("json", "format")
	return cmd
}

func runReport(ctx context.Context, sys System, opts reportOptions) (err error) {
	switch {
	case opts.json:
		opts.form = formJSON
	case opts.open:
		opts.form = formHTML
	}
	if reportFiles[opts.form] == "" {
		return usageError(fmt.Errorf("there is no report in the form %q; there are md, html and json", opts.form))
	}
	run, standing, err := standingRun(sys, opts.run)
	if err != nil {
		return err
	}
	defer func() { err = joined(err, run.Close()) }()
	switch {
	case standing != report.Ended:
		return showInterim(ctx, sys, run, opts, standing)
	case opts.open:
		return openReport(sys, run)
	}
	absent := fmt.Sprintf("this run has no %s; `orchestrate status %s` shows its jobs", reportFiles[opts.form], opts.run)
	if err := printFile(sys, run, reportFiles[opts.form], absent); err != nil || opts.form != formMarkdown {
		return err
	}
	return sayBrought(sys.Err, run) // the report is of the run's end
}

// standingRun opens a run and says how it stands, in report's words.
func standingRun(sys System, arg string) (run *ledger.Run, standing string, err error) {
	dir, err := findRun(sys, arg)
	if err != nil {
		return nil, "", err
	}
	moved, err := displaced(dir)
	if err != nil {
		return nil, "", failure(err)
	}
	owned, err := ledger.Owned(dir) // asked first: its last words are read after
	if err != nil {
		return nil, "", failure(err)
	}
	if run, err = ledger.Open(dir); err != nil {
		return nil, "", failure(err)
	}
	switch {
	case run.State().Phase == ledger.PhaseEnded:
		return run, report.Ended, nil
	case moved != nil:
		fmt.Fprintln(sys.Err, moved)
		return run, report.CutOff, nil
	case run.State().Phase == ledger.PhaseAwaiting:
		return run, report.Awaiting, nil
	case owned && !run.State().Stopping.Empty():
		return run, report.Stopping, nil
	case owned:
		return run, report.Running, nil
	}
	return run, report.CutOff, nil
}

// showInterim prints the report of a run that has not ended, or opens it as a page.
func showInterim(ctx context.Context, sys System, run *ledger.Run, opts reportOptions, standing string) error {
	rep, err := interimOf(ctx, run, standing, sys.Now())
	if err != nil {
		return failure(err)
	}
	data, err := inForm(sys, run, rep, opts.form)
	if err != nil {
		return failure(err)
	}
	if opts.open {
		return openSoFar(sys, run, data, standing)
	}
	if _, err = forReader(sys.Out).Write(data); err != nil {
		return failure(err)
	}
	return nil
}

// openSoFar opens the page of this moment. It has a name of its own: nobody may take it
// for the page of the run's end.
func openSoFar(sys System, run *ledger.Run, page []byte, standing string) error {
	if err := run.WriteSoFar(page); err != nil {
		return failure(fmt.Errorf("the page of a run that has not ended cannot be left in its directory: %w; `orchestrate report --format html %s` prints it", err, run.ID))
	}
	fmt.Fprintf(sys.Err, "the run has not ended (%s): this is its page as of now, made anew each time; %s comes when it ends\n", standing, ledger.ReportHTMLFile)
	return openPage(sys, run.Path(ledger.SoFarFile))
}

// inForm is a report that is on no disk.
func inForm(sys System, run *ledger.Run, rep report.Report, form string) ([]byte, error) {
	switch form {
	case formJSON:
		return rep.JSON()
	case formHTML:
		op, err := sys.operator()
		if err != nil {
			return nil, err
		}
		redact := secret.NewAllowing(secret.FromEnv(sys.Env), op.Secrets.Allow)
		files := engine.PageFiles(run, redact.String)
		defer files.Close()
		return rep.HTML(files)
	}
	return rep.Markdown(), nil
}

func interimOf(ctx context.Context, run *ledger.Run, standing string, now time.Time) (report.Report, error) {
	records, err := transitions(run)
	if err != nil {
		return report.Report{}, err
	}
	return engine.Interim(ctx, run, records, standing, now)
}

// openerPatience is how long a program that opens a page may take to say that it cannot.
const openerPatience = 2 * time.Second

// openReport opens the page of a run's end.
func openReport(sys System, run *ledger.Run) error {
	if _, err := run.ReadFile(ledger.ReportHTMLFile); err != nil {
		return failure(fmt.Errorf("this run has no page to open: %w; `orchestrate report %s` prints its report", err, run.ID))
	}
	return openPage(sys, run.Path(ledger.ReportHTMLFile))
}

// openPage prints where a page is, and opens it where somebody can see it.
func openPage(sys System, page string) error {
	if _, err := fmt.Fprintln(sys.Out, page); err != nil {
		return failure(err)
	}
	if !facing(sys) {
		fmt.Fprintln(sys.Err, "not opened, since no person is at a terminal here: open that file with a browser")
		return nil
	}
	argv := append(opener(goruntime.GOOS), page)
	if err := detach.Open(argv, sys.Env, sys.Cwd, openerPatience); err != nil {
		return failure(fmt.Errorf("%s did not open it: %w; open that file with a browser", argv[0], err))
	}
	return nil
}

// facing reports whether a person looks at what this command prints.
func facing(sys System) bool {
	out := sys.Out
	if o, ok := out.(*outlet); ok {
		out = o.to
	}
	f, ok := out.(*os.File)
	return ok && foreground(f) && environ.HostedBy(sys.Env) == ""
}

// opener is the program by which a person's files are opened, with what comes before the
// file's name.
func opener(goos string) []string {
	switch goos {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}
