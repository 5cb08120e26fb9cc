package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrate/internal/engine"
	"orchestrate/internal/ledger"
	"orchestrate/internal/reclaim"
)

type cleanOptions struct {
	discard []string
	yes     bool
	dryRun  bool
	json    bool
}

func newClean(sys System) *cobra.Command {
	opts := cleanOptions{}
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "List what runs have left, and remove what was integrated or given up",
		Long: `List what the runs of this workspace have left: run directories, worktrees, branches,
and what dead runs left elsewhere, each with its size, its age, and why it may go or
not. Then, at a terminal, ask once whether what may go is removed; elsewhere --yes says
so. Without either nothing is changed.

Only what was integrated may go, and what you give up by its name: --discard RUN, or
--discard RUN/JOB for one job's worktrees and branches. A run directory, with its report
and evidence, goes only with --discard RUN. Nothing of a live run goes, nothing that
this program did not make, and nothing that somebody has changed since. What no commit
holds is saved first, as a ref of git and a patch; what is removed is said, and where
it was saved.
RUN is a run id or the path of a run directory.

Exit status: 0 all that was to go is gone, or nothing was to; 1 something is not;
2 usage error; 130 interrupted: what is listed as removed is gone, all else is there.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.yes && opts.dryRun {
				return usageError(errors.New("--yes removes and --dry-run does not: give one of them"))
			}
			return runClean(cmd.Context(), sys, opts)
		},
	}
	cmd.Flags().StringArrayVar(&opts.discard, "discard", nil, "give up `RUN[/JOB]`, although it was not integrated; may be given again")
	cmd.Flags().BoolVar(&opts.yes, "yes", false, "remove what may go without asking")
	cmd.Flags().BoolVar(&opts.dryRun, "dry-run", false, "only list, and ask nothing")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; nobody is asked")
	return cmd
}

func runClean(ctx context.Context, sys System, opts cleanOptions) (err error) {
	req := engine.CleanRequest{Cwd: sys.Cwd}
	for _, arg := range opts.discard {
		scope, err := discarded(sys, arg)
		if err != nil {
			return err
		}
		req.Discard = append(req.Discard, scope)
	}
	st, err := sys.station()
	if err != nil {
		return err
	}
	defer func() { err = joined(err, st.close()) }()
	ctx, done := unlessInterrupted(ctx)
	defer done()
	if terminal(sys.Err) {
		fmt.Fprintln(sys.Err, "looking at what runs have left; nothing is changed by that")
	}
	l, err := st.Leftovers(ctx, req)
	switch {
	case ctx.Err() != nil:
		return exit(exitInterrupted)
	case err != nil:
		return failure(err)
	}
	l.DryRun = true
	v := leftoversView{w: sys.Out, now: sys.Now()}
	if !opts.json {
		v.list(l)
	}
	agreed := opts.yes
	if !opts.yes && !opts.dryRun && !opts.json && going(l) > 0 {
		agreed = agreesToClean(ctx, sys, l)
	}
	switch {
	case ctx.Err() != nil:
		return exit(exitInterrupted)
	case agreed:
		return reclaimAll(ctx, sys, st, req, l, opts.json)
	case opts.json:
		return printJSON(sys.Out, l)
	}
	v.howTo(l, req.Discard)
	return nil
}

// reclaimAll removes what may go and says what became of it.
func reclaimAll(ctx context.Context, sys System, st *station, req engine.CleanRequest, l reclaim.Listing, asJSON bool) error {
	v := leftoversView{w: sys.Out, now: sys.Now()}
	told := v.went
	if asJSON {
		told = func(reclaim.Item) {}
	}
	wanted := going(l)
	l, err := st.Reclaim(ctx, req, l, told)
	l.DryRun = false
	if asJSON {
		err = errors.Join(err, printJSON(sys.Out, l))
	} else {
		v.gone(l)
	}
	stay := staying(l, req.Discard, wanted)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(sys.Err, "interrupted: what is listed as removed is gone, all else is there; `orchestrate clean` goes on")
		return exit(exitInterrupted)
	case err != nil:
		return failure(err)
	case len(stay) > 0:
		return failure(fmt.Errorf("not removed:\n  %s", strings.Join(stay, "\n  ")))
	}
	return nil
}

// going is how many things may go.
func going(l reclaim.Listing) (n int) {
	for _, i := range l.Items {
		if i.Fate == reclaim.Remove {
			n++
		}
	}
	return n
}

// staying names what was to go, or was given up by name, and is still there: a line each.
func staying(l reclaim.Listing, discard []string, wanted int) (lines []string) {
	left := wanted
	for _, i := range l.Items {
		named := i.Kind != reclaim.KindSalvage && slices.ContainsFunc(discard, func(scope string) bool { return scope == i.Run || scope == i.Run+"/"+i.Job })
		switch {
		case i.Done:
			left--
		case named || i.Fate == reclaim.Remove:
			lines = append(lines, fmt.Sprintf("%s: %s", whatOf(i, l.Root), oneLine(i.Why)))
		}
	}
	if left > 0 && len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("%d of what was to go; `orchestrate clean` lists it with the reason", left))
	}
	return lines
}

// discarded is a --discard as the engine takes it: a run id, or one and a job of it with
// a slash between.
func discarded(sys System, arg string) (string, error) {
	root := workspaceRoot(sys)
	dir, err := ledger.Find(root, arg)
	if err == nil {
		return runIn(root, dir)
	}
	run, job := path.Split(filepath.ToSlash(arg))
	if run == "" || job == "" {
		return "", usageError(fmt.Errorf("--discard: %w", err))
	}
	if dir, err = ledger.Find(root, strings.TrimRight(run, "/")); err != nil {
		return "", usageError(fmt.Errorf("--discard: %w", err))
	}
	id, err := runIn(root, dir)
	if err != nil {
		return "", err
	}
	r, err := ledger.Open(dir)
	if err != nil {
		return "", failure(err)
	}
	if job != ledger.IntegrationJob || !integratedOnce(r) {
		err = known(r, job)
	}
	return id + "/" + job, joined(err, r.Close())
}

// integratedOnce reports whether a run was integrated, or that was tried: what is kept of
// it is given up by the name of no job.
func integratedOnce(r *ledger.Run) bool {
	own, err := r.OpenDir(ledger.IntegrationJob)
	return err == nil && own.Close() == nil
}

// runIn is the id of a run of this workspace: another one's is cleaned from there, and
// what a link leads to where it is.
func runIn(root, dir string) (string, error) {
	name := filepath.Base(dir)
	id, ok := strings.CutPrefix(name, "orchestrate-")
	here, err := os.Lstat(ledger.DirOf(root, id))
	there, errThere := os.Stat(dir)
	if !ok || err != nil || errThere != nil || !os.SameFile(here, there) {
		return "", usageError(fmt.Errorf("--discard: %s is no run of the workspace %s; call `orchestrate clean` in the workspace that it belongs to", dir, root))
	}
	return id, nil
}

// agreesToClean asks the person who waits, if there is one, and says why else.
func agreesToClean(ctx context.Context, sys System, l reclaim.Listing) bool {
	tty, agent := attended(sys)
	if agent != "" {
		fmt.Fprintf(sys.Err, "note: %s says that a coding agent runs this command, so nobody is asked here\n", agent)
	}
	if tty == nil {
		return false
	}
	defer tty.Close()
	if forget(tty) != nil {
		return false
	}
	return agrees(ctx, tty, bufio.NewReader(tty), fmt.Sprintf("\nRemove %s? What no commit holds is saved first. [y/N] ", amount(l)))
}
