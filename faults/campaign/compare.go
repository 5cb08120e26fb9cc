//go:build linux

package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"orchestrate/internal/ledger"
)

// Plain reads a run's report without what differs from run to run: times, pids,
// ids, how many attempts it took, and what was said about the disturbance.
func Plain(dir, base string) (any, error) {
	data, err := os.ReadFile(filepath.Join(dir, ledger.ReportJSONFile))
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(data), base, "BASE")
	text = strings.ReplaceAll(text, strings.TrimPrefix(filepath.Base(dir), "orchestrate-"), "ID")
	text = laterTree.ReplaceAllString(text, "$1")
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, err
	}
	delete(doc, "usage") // of all attempts together
	if budget, ok := doc["budget"].(map[string]any); ok {
		for _, key := range []string{"spentUsd", "spentTokens", "unknownAttempts"} { // the same
			delete(budget, key)
		}
	}
	return strip(doc), nil
}

// laterTree is the name of a later attempt's worktree or branch.
var laterTree = regexp.MustCompile(`\b((?:worktrees|orchestrate/ID)/[\w-]+)\.a\d+`)

// passing are the keys of report.json that an equal run may have otherwise. keptTrees
// has the trees of attempts that were cut off, commit the time of the snapshot, account
// how many attempts had failed by then.
var passing = map[string]bool{
	"startedAt": true, "endedAt": true, "at": true, "durationMs": true, "pid": true, "startTime": true,
	"attempts": true, "attempt": true, "earlier": true, "sessionId": true, "resumedFrom": true,
	"commit": true, "keptTrees": true, "notes": true, "reproduce": true, "proof": true, "needsPerson": true,
	"specDigest": true, "sha256": true, "account": true,
}

func strip(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if after, _ := v["after"].(string); after != "" {
			delete(v, "base") // of a patch that builds on another: a snapshot's commit
		}
		for key := range v {
			if passing[key] {
				delete(v, key)
			} else {
				v[key] = strip(v[key])
			}
		}
	case []any:
		for i := range v {
			v[i] = strip(v[i])
		}
	}
	return v
}

// forgetPlaces takes from both reports where a job worked and where its patch is, if
// that is not the same because an attempt of it was cut off in the shared checkout:
// the next one has a worktree, since nobody knows what the first has left there.
func forgetPlaces(want, got any) {
	moved := map[string]bool{}
	for _, job := range objects(got, "jobs") {
		status, _ := job["status"].(map[string]any)
		if route, _ := status["route"].(map[string]any); route["isolationWhy"] == elsewhere {
			moved[fmt.Sprint(status["id"])] = true
		}
	}
	for _, doc := range []any{want, got} {
		for _, job := range objects(doc, "jobs") {
			status, _ := job["status"].(map[string]any)
			if route, ok := status["route"].(map[string]any); ok && moved[fmt.Sprint(status["id"])] {
				without(job, "dir")
				without(status, "controls", "worktree", "branch")
				without(route, "controls", "isolation", "isolationWhy")
			}
		}
		for _, patch := range objects(doc, "patches") {
			if moved[fmt.Sprint(patch["job"])] {
				without(patch, "base", "branch", "apply", "applied", "undo")
			}
		}
	}
}

// elsewhere is what the engine says of such a job.
const elsewhere = "an earlier attempt worked in the shared checkout"

func objects(doc any, key string) (all []map[string]any) {
	m, _ := doc.(map[string]any)
	list, _ := m[key].([]any)
	for _, v := range list {
		if o, ok := v.(map[string]any); ok {
			all = append(all, o)
		}
	}
	return all
}

func without(m map[string]any, keys ...string) {
	for _, key := range keys {
		delete(m, key)
	}
}

// differences are the places at which two plain reports are not the same.
func differences(at string, want, got any) (all []string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for key := range w {
			all = append(all, differences(at+"."+key, w[key], g[key])...)
		}
		for key := range g {
			if _, ok := w[key]; !ok {
				all = append(all, differences(at+"."+key, nil, g[key])...)
			}
		}
		return all
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			all = append(all, differences(fmt.Sprintf("%s.%d", at, i), w[i], g[i])...)
		}
		return all
	}
	a, _ := json.Marshal(want) // both come from JSON
	b, _ := json.Marshal(got)
	if string(a) != string(b) {
		all = append(all, fmt.Sprintf("report%s is %s, undisturbed it is %s", at, b, a))
	}
	return all
}
