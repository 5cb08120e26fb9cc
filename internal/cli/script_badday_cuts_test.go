//go:build linux

package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"orchestrate/internal/ledger"
)

// cuts runs a spec to its end, cuts the journal at the end of every record and one
// byte before and after, and resumes: `cuts SPEC`, $ROUND as for strike. Each cut is
// made as if the engine had died there, which must lose nothing and do nothing again;
// those at the end of a record also with all that came later still in place, which
// must be seen.
func cuts(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 1, 1, "cuts SPEC")
	workers := min(runtime.NumCPU(), 4)
	failed := make(chan error)
	for w := range workers {
		// A sandbox for each of some thousand jobs would take most of the time; what dies
		// and goes on in one is the campaign's.
		b := &butcher{scene: newScene(ts, fmt.Sprintf("cuts-%d", w), args[0], false)}
		go func() { failed <- b.work(w, workers) }()
	}
	var all error
	for range workers {
		all = errors.Join(all, <-failed)
	}
	ts.Check(all)
}

// butcher cuts the journal of one finished run again and again.
type butcher struct {
	scene
	run     string
	saved   string // a copy of all of it
	journal []byte
}

func (b *butcher) work(first, step int) error {
	if status, said := b.do("orchestrate", "run", "jobs.yaml"); status != 0 {
		return fmt.Errorf("exit status %d:\n%s", status, said)
	}
	var err error
	if b.run, err = b.theRun(); err != nil {
		return err
	}
	if b.journal, err = os.ReadFile(filepath.Join(b.run, ledger.JournalFile)); err != nil {
		return err
	}
	b.saved = filepath.Join(b.dir, "saved")
	if err := b.copy(b.saved, b.reports(), b.counters()); err != nil {
		return err
	}
	at := 0
	for n := 0; ; n++ {
		for _, cut := range []int{at - 1, at, at + 1} {
			if n%step != first || cut < 0 || cut > len(b.journal) {
				continue
			}
			if err := b.cut(cut, cut == at); err != nil {
				return fmt.Errorf("cut at byte %d of %d, at record %d: %w", cut, len(b.journal), n, err)
			}
		}
		end := bytes.IndexByte(b.journal[at:], '\n')
		if end < 0 {
			return nil
		}
		at += end + 1
	}
}

func (b *butcher) reports() string {
	return filepath.Join(b.project, filepath.FromSlash(ledger.ReportsDir))
}
func (b *butcher) counters() string { return filepath.Join(b.dir, "count") }

func (b *butcher) copy(to string, from ...string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	for _, f := range from {
		if err := os.CopyFS(filepath.Join(to, filepath.Base(f)), os.DirFS(f)); err != nil {
			return err
		}
	}
	return nil
}

// restore puts everything back and cuts the journal.
func (b *butcher) restore(cut int) error {
	for _, f := range []string{b.reports(), b.counters()} {
		if err := b.copy(f+".new", filepath.Join(b.saved, filepath.Base(f))); err != nil {
			return err
		}
		err := errors.Join(os.RemoveAll(f), os.Rename(filepath.Join(f+".new", filepath.Base(f)), f), os.Remove(f+".new"))
		if err != nil {
			return err
		}
	}
	return os.Truncate(filepath.Join(b.run, ledger.JournalFile), int64(cut))
}

func (b *butcher) cut(cut int, atEnd bool) error {
	if err := errors.Join(b.restore(cut), b.forget(cut)); err != nil {
		return err
	}
	if err := b.asAfterDeath(cut); err != nil {
		return fmt.Errorf("as after the engine's death: %w", err)
	}
	if !atEnd {
		return nil
	}
	if cut > 0 {
		if err := b.valid(); err != nil {
			return err
		}
	}
	if err := b.restore(cut); err != nil {
		return err
	}
	if err := b.asAfterLoss(cut); err != nil {
		return fmt.Errorf("with what came later in place: %w", err)
	}
	return nil
}

// records are those that a cut leaves whole, by kind and job.
func (b *butcher) records(cut int) (map[ledger.RecordKind]map[string]bool, error) {
	kinds := map[ledger.RecordKind]map[string]bool{}
	for line := range bytes.Lines(b.journal[:cut]) {
		var r ledger.Record
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		if kinds[r.Kind] == nil {
			kinds[r.Kind] = map[string]bool{}
		}
		kinds[r.Kind][r.Job] = true
	}
	return kinds, nil
}

// forget removes what a run that died at this cut cannot have had: the directories
// of jobs that were not begun, the status of those not settled, and what comes last.
func (b *butcher) forget(cut int) error {
	kinds, err := b.records(cut)
	if err != nil {
		return err
	}
	gone := []string{ledger.StateFile}
	if kinds[ledger.KindRunEnded] == nil {
		gone = append(gone, ledger.ReportFile, ledger.ReportJSONFile, "arbiter", "../"+ledger.HistoryFile)
	}
	saved, err := os.ReadDir(filepath.Join(b.saved, "count"))
	if err != nil {
		return err
	}
	for _, f := range saved {
		switch job := f.Name(); {
		case !kinds[ledger.KindIntent][job]:
			gone = append(gone, job, filepath.Join("worktrees", job))
			err = errors.Join(err, os.Remove(filepath.Join(b.counters(), job)))
		case !kinds[ledger.KindSettled][job]:
			gone = append(gone, ledger.JobPath(job, ledger.StatusFile), ledger.JobPath(job, ledger.SessionFile))
		}
	}
	for _, name := range gone {
		err = errors.Join(err, os.RemoveAll(filepath.Join(b.run, name)))
	}
	return err
}

// asAfterDeath resumes where nothing is missing: all that was done counts, the rest
// is done, and nothing twice.
func (b *butcher) asAfterDeath(cut int) error {
	status, said := b.do("orchestrate", "resume", b.run)
	if !bytes.Contains(b.journal[:cut], []byte("\n")) {
		if status == 0 || !strings.Contains(said, "orchestrate: ") {
			return fmt.Errorf("no record is left, exit status %d:\n%s", status, said)
		}
		return nil
	}
	if status != 0 {
		return fmt.Errorf("resume: exit status %d:\n%s", status, said)
	}
	if err := b.whole(nil); err != nil {
		return fmt.Errorf("resume said:\n%s\n%w", said, err)
	}
	return b.once()
}

// once demands that every program ran exactly once.
func (b *butcher) once() error {
	all, err := os.ReadDir(filepath.Join(b.saved, "count"))
	for _, f := range all {
		n, e := lines(filepath.Join(b.counters(), f.Name()))
		if err = errors.Join(err, e); n != 1 {
			err = errors.Join(err, fmt.Errorf("job %s ran %d times", f.Name(), n))
		}
	}
	return err
}

// asAfterLoss resumes a run whose files prove more than what is left of its journal:
// it is refused and says what differs, or nothing of what counts is missing.
func (b *butcher) asAfterLoss(cut int) error {
	status, said := b.do("orchestrate", "resume", b.run)
	if status != 0 && !strings.Contains(said, "orchestrate: ") {
		return fmt.Errorf("exit status %d without saying why:\n%s", status, said)
	}
	if err := b.once(); err != nil {
		return fmt.Errorf("exit status %d:\n%s\n%w", status, said, err)
	}
	if status == 0 {
		return b.whole(nil)
	}
	now, err := os.ReadFile(filepath.Join(b.run, ledger.JournalFile))
	if err == nil && !bytes.HasPrefix(b.journal[:cut], now) {
		err = fmt.Errorf("a journal that was refused was written to:\n%s", said)
	}
	return err
}
