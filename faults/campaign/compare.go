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
	return strip(doc), nil
}

// laterTree is the name of a later attempt's worktree or branch.
var laterTree = regexp.MustCompile(`\b((?:worktrees|orchestrate/ID)/[\w-]+)\.a\d+`)

// passing are the keys of report.json that an equal run may have otherwise. keptTrees
// has the trees of attempts that were cut off, commit the time of the snapshot.
var passing = map[string]bool{
	"startedAt": true, "endedAt": true, "at": true, "durationMs": true, "pid": true, "startTime": true,
	"attempts": true, "attempt": true, "earlier": true, "sessionId": true, "resumedFrom": true,
	"commit": true, "keptTrees": true, "notes": true, "reproduce": true, "proof": true, "needsPerson": true,
	"specDigest": true, "sha256": true,
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
