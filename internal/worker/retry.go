package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/spec"
)

// Retry is what is to be done for the tasks of a manifest that have not succeeded. Where
// both are empty, all have.
type Retry struct {
	Call     string    // absolute directory of the call to resume, its failed tasks too; "" = none
	Manifest *Manifest // to be run as a new call; nil = none
}

// Unfinished says how the tasks of the manifest that have not succeeded are done. The same
// manifest as before is that call resumed. Of a changed one the tasks that have not
// succeeded are a call of their own, unless they hang together with others. BusyError while
// that call goes on.
func (m *Manifest) Unfinished() (Retry, []spec.Diagnostic, error) {
	calls, err := m.look()
	if err != nil {
		return Retry{}, nil, err
	}
	for _, c := range slices.Backward(calls) {
		if o, ok := orderOf(c); !ok || o.Digest != m.digest() {
			continue
		}
		switch {
		case c.Live:
			return Retry{}, nil, &BusyError{Call: c.ID, how: atWork}
		case wellAll(c):
			return Retry{}, nil, nil
		}
		r, err := m.again(c)
		return r, nil, err
	}
	return m.changed()
}

// again is a call of this very manifest resumed. Where a later call has mended some of its
// tasks they are not done once more: what is left is a call of its own, if it can be.
func (m *Manifest) again(c Call) (Retry, error) {
	tasks, err := m.Run.Tasks()
	if err != nil {
		return Retry{}, err
	}
	mended := func(j ledger.JobState) bool {
		return !j.Status.Well() && slices.ContainsFunc(tasks, func(t Task) bool { return t.ID == j.ID && t.Call != c.ID && t.Well() })
	}
	if slices.ContainsFunc(c.State.Jobs, mended) {
		if rest, diags, err := m.changed(); err != nil || len(diags) == 0 {
			return rest, err
		}
	}
	return Retry{Call: c.Dir}, nil
}

// orderOf is who made a call of what; ok is false where that is not known any more.
func orderOf(c Call) (o order, ok bool) {
	if c.Specs() == "" {
		return o, false
	}
	data, err := os.ReadFile(filepath.Join(c.Specs(), callFile))
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	return o, err == nil
}

func wellAll(c Call) bool {
	return !slices.ContainsFunc(c.State.Jobs, func(j ledger.JobState) bool { return !j.Status.Well() })
}

// changed is the manifest without the tasks that have succeeded in earlier calls.
func (m *Manifest) changed() (Retry, []spec.Diagnostic, error) {
	tasks, err := m.Run.Tasks()
	if err != nil {
		return Retry{}, nil, err
	}
	done, begun := map[string]bool{}, false
	for _, t := range tasks {
		done[t.ID] = t.Well()
		begun = begun || slices.ContainsFunc(m.jobs, func(j job) bool { return t.ID == j.ID || j.pattern && strings.HasPrefix(t.ID, j.ID+"-") })
	}
	rest := *m
	rest.jobs, rest.places = nil, nil
	for i, j := range m.jobs {
		if done[j.ID] {
			continue
		}
		rest.jobs, rest.places = append(rest.jobs, j), append(rest.places, m.places[i])
	}
	if len(rest.jobs) == 0 {
		return Retry{}, nil, nil
	}
	if !begun {
		return Retry{Manifest: m}, nil, nil
	}
	var diags []spec.Diagnostic
	for i, j := range rest.jobs {
		if !j.pattern {
			continue
		}
		d := spec.Diagnostic{Rule: "retry", Message: fmt.Sprintf(
			"the manifest has changed since its last call, and task %s hangs together with others, so it cannot be done again alone; put the manifest back as it was, or run it without --retry-failed with new ids", j.ID)}
		d.Pos, d.Field = m.form.Place("tasks", fmt.Sprint(rest.places[i]))
		diags = append(diags, d)
	}
	if len(diags) > 0 {
		return Retry{}, diags, nil
	}
	return Retry{Manifest: &rest}, nil, nil
}
