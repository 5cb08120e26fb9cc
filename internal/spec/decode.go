package spec

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Defaults that a spec may leave unsaid. Sizes in bytes.
const (
	DefaultConcurrency    = 4
	DefaultBase           = "HEAD"
	DefaultArbiterTimeout = 10 * time.Minute
	DefaultCheckTimeout   = 10 * time.Minute
	DefaultBackoff        = 5 * time.Second
	DefaultMaxOutputBytes = 1 << 20
	DefaultEvidenceBytes  = 200 << 10
	// MaxTimeout bounds every timeout; 0 in a spec stands for it.
	MaxTimeout = 24 * time.Hour
	// maxBackoff bounds the pause before another attempt.
	maxBackoff = time.Hour
)

// retryable are the failures that retry.on may list, and its default.
var retryable = [...]string{"rate_limit", "network", "crash"}

// decode makes a Spec of what can be made sense of.
func (r *reader) decode(root value) (*Spec, []jobView) {
	s := &Spec{
		Version:     1,
		Outcome:     root.field("outcome").text(),
		Constraints: root.field("constraints").texts(),
		NonGoals:    root.field("non_goals").texts(),
		Acceptance:  root.field("acceptance").texts(),
		Concurrency: int(root.field("concurrency").integer(DefaultConcurrency)),
		Base:        root.field("base").or(DefaultBase),
		Budget:      r.budget(root.field("budget")),
		Arbiter:     r.arbiter(root.field("arbiter")),
	}
	if base := root.field("base"); base.present() {
		s.BasePos = r.diagnostic(base.at(), "", "", "").Pos
	}
	if s.Worker = r.opt.Worker; s.Worker {
		s.Arbiter.Mode = "checks-only"
	}
	s.ModePos = r.diagnostic(root.field("arbiter").field("mode").at(), "", "", "").Pos
	s.WorkspaceRoots = r.workspaceRoots(root.field("workspace_roots"))
	r.roots = s.WorkspaceRoots
	r.repository(s)
	jobs := r.expand(root)
	s.Jobs = make([]Job, len(jobs))
	views := make([]jobView, len(jobs))
	for i, m := range jobs {
		views[i] = jobView{made: m, def: r.def, repo: r.repo, job: &s.Jobs[i]}
	}
	linkSessions(views)
	for i := range views {
		r.jobOnce(&views[i])
	}
	r.feed(views)
	if r.opt.Resolved { // which is told by its jobs alone
		s.Worker = s.Worker || slices.ContainsFunc(s.Jobs, func(j Job) bool { return j.Worker != nil })
	}
	return s, views
}

// jobOnce fills a job after the one whose session it goes on with.
func (r *reader) jobOnce(v *jobView) {
	if v.job.ID != "" || v.job.Pos.Line > 0 {
		return
	}
	if v.after != nil {
		r.jobOnce(v.after)
	}
	r.job(*v)
}

// feed gives the programs among the jobs of patterns what an agent gets of all that it
// depends on.
func (r *reader) feed(views []jobView) {
	byID := map[string]*Job{}
	for _, v := range views {
		byID[v.job.ID] = v.job
	}
	for _, v := range views {
		if !v.job.Exec() {
			continue
		}
		for _, id := range v.feeds {
			v.job.Inputs = append(v.job.Inputs, Input{FromJob: id})
			if on := byID[id]; on != nil {
				for _, o := range on.Outputs {
					v.job.Inputs = append(v.job.Inputs, Input{FromJob: id, FromPath: o.Path})
				}
			}
		}
	}
}

func (r *reader) budget(v value) Budget {
	return Budget{
		USD:    v.field("usd").float(),
		Tokens: v.field("tokens").integer(0),
		Wall:   r.span(v.field("wall"), 0),
	}
}

func (r *reader) arbiter(v value) Arbiter {
	name, _ := runtimeName(v.field("runtime").text())
	return Arbiter{
		Runtime:            name,
		Model:              v.field("model").text(),
		Timeout:            r.timeout(v.field("timeout"), DefaultArbiterTimeout),
		Mode:               v.field("mode").or("required"),
		RequireIndependent: v.field("require_independent").truth(),
		MaxEvidenceBytes:   int(v.field("max_evidence_bytes").integer(DefaultEvidenceBytes)),
	}
}

// job fills one job; what needs the disk or other jobs comes with the rules.
func (r *reader) job(v jobView) {
	j, get := v.job, v.get
	id := v.own.field("id")
	*j = Job{
		ID:                 id.text(),
		Agent:              get("agent").text(),
		Model:              get("model").text(),
		Effort:             get("effort").text(),
		Task:               get("task").text(),
		Importance:         get("importance").or("normal"),
		Prompt:             v.own.field("prompt").text(),
		Command:            get("command").texts(),
		AllowedTools:       get("allowed_tools").texts(),
		DisallowedTools:    get("disallowed_tools").texts(),
		Effect:             get("effect").text(),
		Untrusted:          get("untrusted").truth(),
		Credentialed:       get("credentialed").truth(),
		Approval:           get("approval").or("inherit"),
		Isolation:          get("isolation").text(),
		Serialize:          get("serialize").text(),
		Overlap:            get("overlap").or("refuse"),
		Timeout:            r.timeout(get("timeout"), 0),
		FirstOutputTimeout: r.span(get("first_output_timeout"), 0),
		ExpectedOutput:     get("expected_output").text(),
		DependsOn:          v.own.field("depends_on").texts(),
		Destructive:        get("destructive").truth(),
		Preview:            get("preview").text(),
		Rollback:           get("rollback").text(),
		MaxOutputBytes:     get("max_output_bytes").integer(DefaultMaxOutputBytes),
		EnvAllow:           get("env_allow").texts(),
		Continue:           v.own.field("continue").text(),
		MaxTurns:           int(get("max_turns").integer(0)),
		Part:               v.seed.Part,
		Item:               v.seed.Item,
		Round:              v.seed.Round,
		Gather:             v.seed.Gather,
		Verdict:            v.seed.Verdict,
		AfterAll:           v.seed.AfterAll,
		Require:            v.seed.Require,
		Worker:             r.worker(v.own.field("worker")),
		Pos:                r.diagnostic(id.at(), "", "", "").Pos,
	}
	r.shellCommand(j)
	j.Runtime, j.RuntimePlaceholder = runtimeName(get("runtime").text())
	if j.Exec() && !get("runtime").present() {
		j.Runtime = "exec"
	}
	j.Fallbacks = fallbacks(get("fallback_runtime"))
	j.Inputs = inputs(get("inputs"))
	j.Outputs = outputs(get("outputs"))
	j.Checks = r.checks(get("checks"))
	j.Retry = r.retry(get("retry"))
	j.Worktree = r.worktree(get("worktree"))
	applyTask(j)
	v.inherit()
	v.dependencies()
}

// shellCommand makes a program of the shell text that the worker form gives.
func (r *reader) shellCommand(j *Job) {
	if j.Worker != nil && j.Worker.Command != "" {
		j.Command = []string{"sh", "-c", j.Worker.Command}
	}
}

// applyTask fills the task and the effect that follow from what was said.
func applyTask(j *Job) {
	if j.Task == "" && j.Runtime == "exec" {
		j.Task = "mechanical"
	}
	if j.Task == "" && j.Part != nil && j.Part.Kind == PatternJoin {
		j.Task = "synthesis"
	}
	if j.Task == "" && j.Model != "" {
		j.Task = "analysis"
	}
	if j.Effect == "" && j.Task != "" && j.Runtime != "exec" && !mayWrite(j.Task) {
		j.Effect = "observe"
	}
}

// mayWrite names the tasks that have no default effect.
func mayWrite(task string) bool {
	switch task {
	case "implement", "mechanical", "test", "docs", "writing":
		return true
	}
	return false
}

var placeholder = regexp.MustCompile(`^<[^<>]+>$`)

// runtimeName separates a name from a placeholder.
func runtimeName(text string) (name, asWritten string) {
	if placeholder.MatchString(text) {
		return "", text
	}
	return text, ""
}

func fallbacks(v value) []Fallback {
	var out []Fallback
	for _, item := range v.items() {
		text := item.text()
		if item.t.kind == kindMap {
			text = item.field("runtime").text()
		}
		f := Fallback{Model: item.field("model").text()}
		f.Runtime, f.Placeholder = runtimeName(text)
		out = append(out, f)
	}
	return out
}

func inputs(v value) []Input {
	var out []Input
	for _, item := range v.items() {
		out = append(out, Input{
			FromJob:  item.field("from_job").text(),
			FromPath: cleanPath(item.field("from_path").text()),
			SHA256:   item.field("sha256").text(),
		})
	}
	return out
}

func outputs(v value) []Output {
	var out []Output
	for _, item := range v.items() {
		out = append(out, Output{Path: cleanPath(item.field("path").text()), SHA256: item.field("sha256").text()})
	}
	return out
}

func (r *reader) checks(v value) []Check {
	var out []Check
	for _, item := range v.items() {
		if item.t.kind == kindText {
			out = append(out, Check{Name: checkName(item.text()), Shell: item.text(), Timeout: DefaultCheckTimeout})
			continue
		}
		c := Check{
			Name:    item.field("name").text(),
			Run:     item.field("run").texts(),
			Assert:  item.field("assert").text(),
			Timeout: r.timeout(item.field("timeout"), DefaultCheckTimeout),
		}
		if c.Assert != "" {
			c.Timeout = 0
		}
		if c.Name == "" {
			c.Name = checkName(strings.Join(c.Run, " ") + c.Assert)
		}
		out = append(out, c)
	}
	return out
}

// checkName makes a name of a check's own text: its first line, at most 80 runes.
func checkName(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return line
}

func (r *reader) retry(v value) Retry {
	on := v.field("on").texts()
	if on == nil {
		on = retryable[:]
	}
	backoff := r.span(v.field("backoff"), DefaultBackoff)
	if backoff > maxBackoff {
		r.failf(v.field("backoff"), "time", "found %s; allowed: at most %s", backoff, short(maxBackoff))
	}
	return Retry{MaxAttempts: int(v.field("max_attempts").integer(1)), Backoff: backoff, On: slices.Clone(on)}
}

// timeout reads a bounded duration: absent = fallback, 0 = the cap.
func (r *reader) timeout(v value, fallback time.Duration) time.Duration {
	if !v.present() {
		return fallback
	}
	if v.t.kind == kindNumber && v.integer(1) == 0 {
		return MaxTimeout
	}
	d := r.span(v, fallback)
	switch {
	case d == 0 && v.t.kind == kindText:
		return MaxTimeout
	case d > MaxTimeout:
		r.failf(v, "time", "found %s; allowed: at most 24h", v.t.words())
	}
	return d
}

// span reads a duration without a bound of its own.
func (r *reader) span(v value, fallback time.Duration) time.Duration {
	if v.text() == "" {
		return fallback
	}
	d, err := time.ParseDuration(v.text())
	if err != nil || d < 0 {
		r.failf(v, "time", "found %s; allowed: a duration such as 90s, 10m or 1h30m", v.t.words())
		return fallback
	}
	return d
}

// short writes a duration without its zero parts.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// distinct keeps the first of equal words, nil for nil.
func distinct(words []string) []string {
	seen := make(map[string]bool, len(words))
	return slices.DeleteFunc(words, func(w string) bool {
		again := seen[w]
		seen[w] = true
		return again
	})
}
