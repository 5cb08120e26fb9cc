package spec

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// runFiles are the files of a run directory and of a job directory. A job's
// folder stands beside the former, and on a case-insensitive disk too.
var runFiles = [...]string{
	"spec.yaml", "request.md", "jobs.yaml", "defaults.yaml", "runtimes.json", "state.json", "journal.jsonl", "checkout.json",
	"report.md", "report.html", "report-so-far.html", "report.json", "approvals.json", "orchestrate-history.jsonl",
	"prompt.md", "command.txt", "stdout.txt", "stderr.txt", "output.md", "status.json",
	"session.json", "events.jsonl", "exit.json", "changes.patch", "request.json", "result.md",
	"agents.json", "lease.json", "submission.json", "draft.json",
	"evidence.md", "verdict.json", "diffstat.txt", "integration.json", "intent.json", "reclaimed.json",
}

// device matches names that Windows gives to devices, with any extension.
var device = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// attemptSuffix is what the worktree of a later attempt ends in.
var attemptSuffix = regexp.MustCompile(`\.a[0-9]+$`)

// badID says why a well-formed id may not be used, or "".
func badID(id string) string {
	low := strings.ToLower(id)
	switch {
	case low == "arbiter" || low == "worktrees" || low == "integration":
		return "is a folder of the run directory"
	case slices.Contains(runFiles[:], low):
		return "is a file name of the run directory"
	case device.MatchString(id):
		return "is a device name on Windows"
	case strings.HasSuffix(low, ".lock"):
		return "ends in .lock, which git does not allow in a branch"
	case attemptSuffix.MatchString(low):
		return "ends in .a<digits>, which names later attempts"
	}
	return ""
}

// ids checks every id and returns the jobs by id.
func (r *reader) ids(views []jobView) map[string]jobView {
	known, folded := map[string]jobView{}, map[string]jobView{}
	for _, v := range views {
		id := v.own.field("id")
		if v.job.ID == "" {
			continue
		}
		if why := badID(v.job.ID); why != "" {
			r.failf(id, "id", "the id %s %s; choose another", quote(v.job.ID), why)
		}
		if len(v.job.ID) > maxID && v.job.Part != nil {
			r.failf(id, "id", "the id %s, which a pattern makes of this one, has %d characters; allowed: at most %d: shorten the job's id", quote(v.job.ID), len(v.job.ID), maxID)
		}
		low := strings.ToLower(v.job.ID)
		if first, taken := folded[low]; taken {
			r.failf(id, "id", "the id %s is already that of %s on line %d; ids are unique ignoring case", quote(v.job.ID), first.own.path, first.own.field("id").at().line)
			continue
		}
		known[v.job.ID], folded[low] = v, v
	}
	return known
}

// dependencies checks that every named job is there.
func (r *reader) dependencies(known map[string]jobView) {
	ids := slices.Sorted(maps.Keys(known))
	for _, ref := range r.references {
		if members, ok := r.lists[ref.v.text()]; !ok {
			r.knownJob(ref.v, known, ids)
		} else if ref.one && len(members) > 1 {
			r.failf(ref.v, "unknown-job", "%s is made for each item of a list; name one of those jobs: %s", quote(ref.v.text()), list(firstFew(members)))
		}
	}
}

// maxListed bounds how many ids a message lists.
const maxListed = 20

func (r *reader) knownJob(v value, known map[string]jobView, ids []string) {
	if _, ok := known[v.text()]; ok || v.text() == "" || r.full() {
		return
	}
	shown, more := ids, ""
	if len(ids) > maxListed {
		shown, more = ids[:maxListed], ", …"
	}
	r.failf(v, "unknown-job", "there is no job %s; allowed: %s%s%s", quote(v.text()), list(shown), more, meant(v.text(), ids))
}
