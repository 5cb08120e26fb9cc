package graph

import (
	"fmt"
	"strings"
	"testing"

	"orchestrate/internal/spec"
)

func everyWriter(string) bool { return true }

func TestAWriterThatDoesNotSeeEarlierWorkOnItsFilesIsTold(t *testing.T) {
	src, docs := []string{"src/**"}, []string{"docs/**"}
	alone := func(id string) bool { return id != "w" }
	for _, c := range []struct {
		name     string
		jobs     []spec.Job
		isolated func(string) bool
		want     string // the warning's text, "" = none
	}{
		{"through an observer", []spec.Job{writer("w", src), job("o", "w"), writer("s", src, "o")}, everyWriter, `"s" comes after "w" but does not start from its work`},
		{"the way out", []spec.Job{writer("w", src), job("o", "w"), writer("s", src, "o")}, everyWriter, "add depends_on: [w]"},
		{"listed before what it waits for", []spec.Job{writer("s", src, "o"), job("o", "w"), writer("w", src)}, everyWriter, "add depends_on: [w]"},
		{"directly", []spec.Job{writer("w", src), job("o", "w"), writer("s", src, "o", "w")}, everyWriter, ""},
		{"down a chain", []spec.Job{writer("w", src), writer("m", src, "w"), writer("s", src, "m")}, everyWriter, ""},
		{"other files", []spec.Job{writer("w", src), job("o", "w"), writer("s", docs, "o")}, everyWriter, ""},
		{"not after it", []spec.Job{serialized("k", writer("w", src)), serialized("k", writer("s", src))}, everyWriter, ""},
		{"in the shared checkout", []spec.Job{writer("w", src), job("o", "w"), writer("s", src, "o")}, alone, ""},
		{"several are told otherwise", []spec.Job{writer("w", src), writer("v", docs), writer("s", src, "w", "v")}, everyWriter, ""},
		{
			"only the last of a chain",
			[]spec.Job{writer("w", src), writer("m", src, "w"), job("o", "m"), writer("s", src, "o")},
			everyWriter, "add depends_on: [m]",
		},
		{
			"with another base",
			[]spec.Job{writer("w", src), job("o", "w"), writer("m", docs, "o"), writer("s", src, "m")},
			everyWriter, `it starts from the work of "m": let each of these writers depend directly`,
		},
	} {
		var told []string
		for _, d := range build(t, c.jobs...).Warnings(c.isolated) {
			if d.Rule == "unseen-work" {
				told = append(told, d.Message)
			}
		}
		if c.want == "" && told != nil || c.want != "" && (len(told) != 1 || !strings.Contains(told[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.name, told, c.want)
		}
	}
}

// BenchmarkUnseenWork is the worst case: a thousand jobs, writers and observers in
// turn, each waiting for all before it and none with files in common.
func BenchmarkUnseenWork(b *testing.B) {
	var jobs []spec.Job
	for n := range 500 {
		w := writer(fmt.Sprintf("w%d", n), []string{fmt.Sprintf("d%d/**", n)})
		if n > 0 {
			w.DependsOn = []string{fmt.Sprintf("o%d", n-1)}
		}
		jobs = append(jobs, w, job(fmt.Sprintf("o%d", n), w.ID))
	}
	g, _ := New(&spec.Spec{Jobs: jobs})
	for b.Loop() {
		g.Warnings(everyWriter)
	}
}
