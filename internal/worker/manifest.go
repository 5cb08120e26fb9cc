package worker

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"orchestrate/docs/schemas"
	"orchestrate/internal/schema"
	"orchestrate/internal/spec"
)

// Settings are what the flags of a call say; a zero field says nothing.
type Settings struct {
	Adapter    string
	Model      string
	Effort     string
	Timeout    string // a number of seconds or a duration; "0" = the cap of 24 h
	MaxTurns   int
	Cwd        string // absolute
	Session    string // id
	ResumeFrom string // id of a task
	Command    string // the person's own shell text
	Write      *bool
	Task       string
}

// Options say for whom a manifest is read.
type Options struct {
	Cwd         string   // of the caller, absolute
	Flags       Settings // of the call
	Adapter     string   // where nothing else says one: $WORKER_ADAPTER
	MaxParallel int      // tasks beside each other, 0 = 4
	Dir         string   // that prompt_file is relative to; "" = the manifest's folder
	By          string   // the command: "batch" or "dispatch"
	Given       []string // the flags of the call that say how a task is done, as they were given
	// Secrets finds secrets in a text; nil looks for none.
	Secrets func(text string) []spec.Secret
	// Runtime is what a runtime is called whose name was given; nil = that.
	Runtime func(name string) string
}

// Manifest is the tasks of one call, ready to be written down as a spec.
type Manifest struct {
	Run  Run
	Name string // as it was given
	jobs []job
	opts Options
	form *spec.Form
	// places are the indexes in the document of the jobs: some may have been left out.
	places []int
	looked bool // at the calls that there are …
	after  int  // … of which this was the newest, 0 = there was none
}

// maxManifest bounds a manifest, in bytes.
const maxManifest = 32 << 20

// manifestKind is compiled when the first manifest is read.
var manifestKind = sync.OnceValue(func() spec.FormKind {
	return spec.FormKind{Holds: `a mapping with tasks, such as {"tasks": [{"id": "a", "prompt": "…"}]}`, Limit: maxManifest, Schema: schema.MustCompile(schemas.Manifest)}
})

// IDs are those of the tasks, in their order; of a pattern that of the whole.
func (m *Manifest) IDs() (ids []string) {
	for _, j := range m.jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

// ParseManifest reads a manifest; name is its file's name for messages. Files that it
// names are read, nothing is written. With any diagnostic the Manifest is nil.
func ParseManifest(run Run, name string, data []byte, opt Options) (*Manifest, []spec.Diagnostic) {
	opt.Dir = cmp.Or(opt.Dir, filepath.Dir(filepath.Join(opt.Cwd, name)))
	if filepath.IsAbs(name) {
		opt.Dir = filepath.Dir(name)
	}
	m := &Manifest{Run: run, Name: name, opts: opt}
	m.form = spec.ReadForm(name, data, manifestKind(), opt.Secrets)
	if len(m.form.Diagnostics()) == 0 { // so all is of the kind that it should be
		m.read()
	}
	if diags := m.form.Diagnostics(); len(diags) > 0 {
		return nil, diags
	}
	return m, nil
}

// Single is the manifest of one task. Its diagnostics have no position; their fields are
// those of the task.
func Single(run Run, id, prompt string, opt Options) (*Manifest, []spec.Diagnostic) {
	task := map[string]any{"id": id, "prompt": prompt}
	own := keysOf(opt.Flags)
	for key, v := range own {
		task[key] = v
	}
	opt.Flags = Settings{}
	data, err := marshal(map[string]any{"tasks": []any{task}})
	if err != nil {
		return nil, []spec.Diagnostic{{Field: "prompt", Message: err.Error(), Rule: "json"}}
	}
	m, diags := ParseManifest(run, "dispatch", data, opt)
	return m, bare(diags)
}

// bare takes out of diagnostics what only says where they are in a document that nobody
// wrote.
func bare(diags []spec.Diagnostic) []spec.Diagnostic {
	for i := range diags {
		diags[i].Pos = spec.Position{}
		diags[i].Field = strings.TrimPrefix(strings.TrimPrefix(diags[i].Field, "tasks[0]"), ".")
	}
	return diags
}

// keysOf are settings as keys of a task.
func keysOf(s Settings) map[string]any {
	keys := map[string]any{}
	for key, text := range map[string]string{
		"adapter": s.Adapter, "model": s.Model, "effort": s.Effort, "timeout": s.Timeout, "cwd": s.Cwd,
		"session": s.Session, "resume_from": s.ResumeFrom, "worker_cmd": s.Command, "task": s.Task,
	} {
		if text != "" {
			keys[key] = text
		}
	}
	if s.MaxTurns != 0 {
		keys["max_turns"] = int64(s.MaxTurns)
	}
	if s.Write != nil {
		keys["write"] = *s.Write
	}
	return keys
}

// fields are the keys of a task, without those that are null.
type fields map[string]any

func fieldsOf(v any) fields {
	all, _ := v.(map[string]any)
	f := fields{}
	for key, v := range all {
		if v != nil {
			f[key] = v
		}
	}
	return f
}

func (f fields) text(key string) string {
	s, _ := f[key].(string)
	return s
}

func (f fields) has(key string) bool { return f[key] != nil }

// over is f with what is said in o in its place.
func (f fields) over(o fields) fields {
	all := fields{}
	for _, part := range []fields{f, o} {
		for key, v := range part {
			all[key] = v
		}
	}
	return all
}

// reading is a manifest while it is read.
type reading struct {
	*Manifest
	tasks     []fields
	defaults  fields
	verifiers map[string]bool // by id in lower case
	earlier   *sessions
	gone      map[string]int // by session that tasks go on with: which of them does
}

func (m *Manifest) read() {
	doc, _ := m.form.Plain().(map[string]any)
	r := &reading{Manifest: m, defaults: fieldsOf(doc["defaults"]).over(keysOf(m.opts.Flags)), verifiers: map[string]bool{}, gone: map[string]int{}}
	list, _ := doc["tasks"].([]any)
	for _, v := range list {
		t := fieldsOf(v)
		r.tasks = append(r.tasks, t)
		if repair := fieldsOf(t["repair"]); repair.has("verifier") {
			r.verifiers[strings.ToLower(repair.text("verifier"))] = true
		}
	}
	r.unique()
	r.oneSession()
	for i := range r.tasks {
		m.jobs, m.places = append(m.jobs, r.job(i)), append(m.places, i)
	}
}

// fail says what is wrong with a key of a task.
func (r *reading) fail(i int, key, rule, message string) {
	at := []string{"tasks", strconv.Itoa(i)}
	if key != "" {
		at = append(at, key)
	}
	r.form.Fail(rule, message, at...)
}

// unique refuses ids that are there twice.
func (r *reading) unique() {
	first := map[string]int{}
	for i, t := range r.tasks {
		low := strings.ToLower(t.text("id"))
		if j, taken := first[low]; taken {
			r.fail(i, "id", "id", "the id "+strconv.Quote(t.text("id"))+" is already that of tasks["+strconv.Itoa(j)+"]; ids are unique ignoring case")
			continue
		}
		first[low] = i
	}
}

// oneSession refuses to let several tasks go on with one session.
func (r *reading) oneSession() {
	for _, key := range []string{"session", "resume_from"} {
		if r.defaults.has(key) && len(r.tasks) > 1 {
			r.form.Fail("session", "one session cannot go on in "+strconv.Itoa(len(r.tasks))+" tasks; say "+key+" in the task that goes on with it", "tasks")
		}
	}
}

// index is the place of a task in the manifest, -1 = there is none.
func (r *reading) index(id string) int {
	return slices.IndexFunc(r.tasks, func(t fields) bool { return t.text("id") == id })
}
