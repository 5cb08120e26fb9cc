//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orchestrate/internal/ledger"
)

// A batch of the worker form over a list, beside one of a tenth of it: what the engine
// takes of memory must not grow with the list.

const (
	workerSlots   = 8
	workerFailing = 20
	workerGrowth  = 1.2 // most that the engine of the long list may take of the short one's memory
)

// workerKinds are who does the tasks.
var workerKinds = []string{"command", "claude"}

// workers measures batches of both lengths, in turns, and holds them to what was promised.
func workers(b *bench) ([]table, error) {
	sizes := []int{b.scale / 10, b.scale}
	t := table{
		title: fmt.Sprintf("A batch over a list of %d items and of %d, %d at a time", sizes[0], sizes[1], workerSlots),
		note:  "The engine's memory is the kernel's ru_maxrss of its process. `command` is a shell command that gives the prompt back; `claude` is the fake of that CLI which the tests use.",
		head:  []string{"tasks by", fmt.Sprintf("engine MiB, %d", sizes[0]), fmt.Sprintf("engine MiB, %d", sizes[1]), "ratio", fmt.Sprintf("wall s, %d", sizes[1])},
	}
	for _, kind := range workerKinds {
		rss, wall := [2][]float64{}, []float64{}
		for round := range b.turns {
			for k := range sizes {
				i := (k + round) % len(sizes)
				c, err := b.batch(kind, sizes[i], nil)
				if err != nil {
					return nil, err
				}
				rss[i] = append(rss[i], c.Engine.RSS)
				if i == 1 {
					wall = append(wall, c.Wall)
				}
			}
		}
		ratio := middle(rss[1]) / middle(rss[0])
		t.add(kind, number("%.1f", middle(rss[0])), number("%.1f", middle(rss[1])), number("%.2f", ratio), number("%.1f", middle(wall)))
		if ratio > workerGrowth {
			return nil, fmt.Errorf("%s: the engine of %d tasks took %.2f times the memory of that of %d, more than %.1f\n%s", kind, sizes[1], ratio, sizes[0], workerGrowth, t.String())
		}
	}
	failing := rand.Perm(b.scale)[:min(workerFailing, b.scale)]
	if _, err := b.batch("command", b.scale, failing); err != nil {
		return nil, err
	}
	t.note += fmt.Sprintf(" All tasks had results and began in the order of the list. Of a batch with %d failing items, these and no others failed, and --retry-failed did these again.", len(failing))
	return []table{t}, nil
}

// batch runs one, in which these items (from 0) fail the first time.
func (b *bench) batch(kind string, n int, failing []int) (c cost, err error) {
	dir, err := os.MkdirTemp(b.places[0], kind+"-")
	if err != nil {
		return c, err
	}
	if err := writeManifest(dir, kind, n, failing); err != nil {
		return c, err
	}
	home := filepath.Join(filepath.Dir(dir), "home")
	if err := os.MkdirAll(filepath.Join(home, ".claude"), 0o700); err != nil {
		return c, err
	}
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(b.bin, "fake") + ":" + b.bin + ":" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	if _, err := measure(b.self, dir, env, []string{"orchestrate", "new-run"}); err != nil {
		return c, err
	}
	call := []string{"sh", "-c", fmt.Sprintf(`exec orchestrate batch .orchestrate/runs/* m.json --max-parallel %d "$@"`, workerSlots), "sh"}
	if c, err = measure(b.self, dir, env, call); err != nil {
		return c, err
	}
	if err := c.findEngine(dir); err != nil {
		return c, err
	}
	if err := heldTo(dir, n, failing, c.Exit); err != nil || len(failing) == 0 {
		return c, err
	}
	return c, b.retried(dir, env, call, n, failing)
}

// writeManifest leaves m.json, and the file broken while which is there items fail.
func writeManifest(dir, kind string, n int, failing []int) error {
	items := make([]string, n)
	for i := range items {
		items[i] = "m" + strconv.Itoa(i)
	}
	task := map[string]any{"id": "audit", "foreach": items, "prompt": "Audit {{item}} and say what is wrong with it."}
	if kind == "claude" {
		task["adapter"] = "claude"
	} else {
		var list strings.Builder
		for _, i := range failing {
			list.WriteString(" m" + strconv.Itoa(i))
		}
		task["worker_cmd"] = `cat; [ ! -e broken ] || case "` + list.String() + ` " in *" $ORCHESTRATE_ITEM "*) exit 3;; esac`
	}
	data, err := json.Marshal(map[string]any{"tasks": []any{task}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "broken"), nil, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "m.json"), data, 0o600)
}

// heldTo looks whether a batch came to what it must: a result for each task, starts in the
// order of the list, and no failures but those that were meant.
func heldTo(dir string, n int, failing []int, exit int) error {
	want := 0
	if len(failing) > 0 {
		want = 1
	}
	if exit != want {
		return fmt.Errorf("exit status %d in %s, expected %d", exit, dir, want)
	}
	begun, err := workerStarts(dir)
	if err != nil {
		return err
	}
	if len(begun) != n {
		return fmt.Errorf("%d starts in %s, expected %d", len(begun), dir, n)
	}
	for at, i := range begun {
		if i != at {
			return fmt.Errorf("item %d began as number %d in %s", i, at, dir)
		}
	}
	return workerResults(dir, n, failing)
}

// workerStarts are the items of the intents, in the journal's order.
func workerStarts(dir string) (items []int, err error) {
	run, err := runDir(dir)
	if err != nil {
		return nil, err
	}
	journal, err := os.Open(filepath.Join(run, ledger.JournalFile))
	if err != nil {
		return nil, err
	}
	defer journal.Close()
	lines := bufio.NewScanner(journal)
	for lines.Buffer(nil, 64<<20); lines.Scan(); {
		var r struct {
			Kind ledger.RecordKind
			Job  string
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		if r.Kind == ledger.KindIntent {
			i, err := strconv.Atoi(strings.TrimPrefix(r.Job, "audit-m"))
			if err != nil {
				return nil, fmt.Errorf("job %s: %w", r.Job, err)
			}
			items = append(items, i)
		}
	}
	return items, lines.Err()
}

// workerResults looks at what each task left.
func workerResults(dir string, n int, failing []int) error {
	var failed []int
	for i := range n {
		at, err := filepath.Glob(filepath.Join(dir, ledger.WorkerRunsDir, "*", ledger.TasksDir, "audit-m"+strconv.Itoa(i)))
		if err != nil || len(at) != 1 {
			return fmt.Errorf("%d folders of item %d in %s: %w", len(at), i, dir, err)
		}
		data, err := os.ReadFile(filepath.Join(at[0], ledger.StatusFile))
		if err != nil {
			return err
		}
		var s struct{ State string }
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		if s.State != string(ledger.Success) {
			failed = append(failed, i)
			continue
		}
		if out, err := os.Stat(filepath.Join(at[0], "output.txt")); err != nil || out.Size() == 0 {
			return fmt.Errorf("item %d has no result in %s: %w", i, dir, err)
		}
	}
	meant := slices.Sorted(slices.Values(failing))
	if !slices.Equal(failed, meant) {
		return fmt.Errorf("in %s failed %v, meant to fail were %v", dir, failed, meant)
	}
	return nil
}

// retried has the failed tasks done again, now that they can succeed.
func (b *bench) retried(dir string, env, call []string, n int, failing []int) error {
	before, err := workerStarts(dir)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, "broken")); err != nil {
		return err
	}
	c, err := measure(b.self, dir, env, append(call[:len(call):len(call)], "--retry-failed"))
	if err != nil {
		return err
	}
	if c.Exit != 0 {
		return fmt.Errorf("exit status %d of --retry-failed in %s", c.Exit, dir)
	}
	after, err := workerStarts(dir)
	if err != nil {
		return err
	}
	again := slices.Sorted(slices.Values(after[len(before):]))
	if !slices.Equal(again, slices.Sorted(slices.Values(failing))) {
		return fmt.Errorf("--retry-failed in %s did %v again, which failed were %v", dir, again, failing)
	}
	return workerResults(dir, n, nil)
}
