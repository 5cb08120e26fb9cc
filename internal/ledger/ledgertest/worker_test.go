package ledgertest

import (
	"encoding/json"
	"slices"
	"strings"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
	"orchestrate/internal/worker"
)

// workerSamples are documents of the worker form, with every key that they can have.
func workerSamples() map[string]any {
	reason, evidence, n, seconds, usd := runtime.ReasonTurnCap, untrusted.From("e"), int64(1), 1.5, 0.1
	task := worker.Status{
		SchemaVersion: 1, TaskID: "a", Adapter: ptr("claude"), Model: ptr("m"), State: ledger.Failed, ExitCode: ptr(8), Reason: &reason, Evidence: &evidence, Next: ptr("n"),
		StartedAt: &day, DurationS: &seconds, SessionID: ptr("s"), Resumed: true, ResumeOf: ptr("b"), Usage: &worker.Usage{InputTokens: &n, OutputTokens: &n, CostUSD: &usd},
		Artifacts: []worker.Artifact{{Path: "artifacts/r.md", SHA256: strings.Repeat("a", 64), Bytes: 1}}, Attempts: 1, Call: "r-c1", Worktree: ptr("/t"), Patch: ptr("/p"),
	}
	plain := map[string]any{
		"adapter": "claude", "model": "m", "effort": "low", "timeout": 1, "max_turns": 1, "cwd": ".", "worker_cmd": "c", "write": true, "task": "docs", "owned_paths": []string{"a"},
		"outputs": []any{map[string]any{"path": "a", "sha256": strings.Repeat("a", 64)}}, "checks": []string{"make"},
		"env_allow": []string{"A"}, "expected_output": "e",
	}
	whole := map[string]any{
		"id": "a", "prompt": "p", "prompt_file": "f", "session": "s", "resume_from": "b", "depends_on": []string{"b"},
		"foreach": map[string]any{"from_job": "b", "path": "$", "max": 1}, "votes": map[string]any{"of": 2, "require": 1, "field": "f", "accept": "a"},
		"until_dry": map[string]any{"rounds": 1, "stop_after": 1, "key": "$"}, "repair": map[string]any{"verifier": "v", "max": 1, "field": "f", "accept": "a"},
		"join": map[string]any{"of": []string{"b"}, "require": 1},
	}
	for key, v := range plain {
		whole[key] = v
	}
	return map[string]any{
		"task/": task, "worker-status/": overview(task),
		"worker-run/":  map[string]any{"schemaVersion": 1, "id": "r", "root": "/w", "createdAt": day},
		"worker-call/": map[string]any{"schemaVersion": 1, "n": 1, "by": "batch", "manifest": "m", "digest": strings.Repeat("a", 64), "tasks": []string{"a"}, "command": "orchestrate batch r m", "after": 1},
		"manifest/":    map[string]any{"defaults": plain, "tasks": []any{whole}},
	}
}

// optionalOfManifest are all keys that a task may leave out.
func optionalOfManifest() (keys []string) {
	for _, at := range []string{"defaults", "tasks.0"} {
		for key := range workerSamples()["manifest/"].(map[string]any)["defaults"].(map[string]any) {
			keys = append(keys, at+"."+key)
		}
		keys = append(keys, at+".outputs.0.sha256")
	}
	for _, key := range []string{
		"prompt", "prompt_file", "session", "resume_from", "depends_on", "foreach", "foreach.from_job", "foreach.path", "foreach.max",
		"votes", "votes.require", "votes.field", "votes.accept", "until_dry", "until_dry.stop_after",
		"repair", "repair.max", "repair.field", "repair.accept", "join", "join.of", "join.require",
	} {
		keys = append(keys, "tasks.0."+key)
	}
	keys = append(keys, "defaults")
	slices.Sort(keys)
	return keys
}

func overview(task worker.Status) worker.Overview {
	task.Item = json.RawMessage("null")
	return worker.Overview{
		SchemaVersion: 1, RunID: "r", RunDir: "/r", Counts: worker.Counts{Total: 1, Failed: 1},
		Calls:  []worker.CallState{{ID: "r-c1", Dir: "/c", State: worker.CallEnded, ExitStatus: ptr(1)}},
		Paused: []worker.Paused{{Call: "r-c1", Adapter: "claude", Reason: runtime.ReasonQuota, Until: &day, Resets: &day}},
		Tasks:  []worker.Status{task}, NotNeeded: []string{"b"},
	}
}
