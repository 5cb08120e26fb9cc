package gemini

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

// bait is the way to sign in that the test folder's own settings demand. There is
// no such way, so the program stops with a complaint if it reads those settings.
const bait = "orchestrate-self-test"

const baitSettings = `{"security":{"auth":{"enforcedType":"` + bait + `"}}}`

// What the program says when it starts.
const (
	saysEnforced   = "enforced"
	saysMethod     = "the current type is '"
	saysNoMethod   = "no authentication is configured"
	saysNoSessions = "No previous sessions found"
	saysRefused    = "Error authenticating:"
)

// selfTest is what two starts in a folder with settings of its own have shown.
type selfTest struct {
	method   string // the way to sign in, as the program names it
	none     bool   // the program said that there is no way to sign in
	accepted bool   // with that way it came past its own check
	said     string // what it said instead
	trouble  string // it gave no answer at all
	project  runtime.Control
	policy   runtime.Control
}

// testStart starts the program twice in a folder whose settings no start survives:
// first trusting the folder, which shows that the settings would count and names
// the way to sign in, and then as jobs are started.
func testStart(ctx context.Context, asker *probe.Asker, p runtime.Profile) selfTest {
	test := selfTest{
		project: runtime.Control{Name: runtime.ControlNoProject},
		policy:  runtime.Control{Name: runtime.ControlToolLimits},
	}
	if !p.Shows(flagSessions) {
		test.trouble = "help does not show " + flagSessions
	} else if err := test.run(ctx, asker, p); err != nil {
		test.trouble = "the test folder cannot be made: " + err.Error()
	}
	if test.trouble != "" {
		test.project.Evidence = "self-test: " + test.trouble
		test.policy.Evidence = test.project.Evidence
	}
	return test
}

func (t *selfTest) run(ctx context.Context, asker *probe.Asker, p runtime.Profile) (err error) {
	dir, err := os.MkdirTemp("", "orchestrate-gemini-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	policy := filepath.Join(dir, "job.toml")
	work := filepath.Join(dir, "work")
	for _, step := range []func() error{
		func() error { return os.MkdirAll(filepath.Join(work, ".gemini"), 0o700) },
		func() error {
			return os.WriteFile(filepath.Join(work, ".gemini", "settings.json"), []byte(baitSettings), 0o600)
		},
		func() error {
			return os.WriteFile(policy, []byte(policyFor([]string{"read_file"}, runtime.Request{})), 0o600)
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if !t.trusting(ctx, asker, work) {
		return nil
	}
	args := append([]string{flagSkipTrust, flagPolicy + "=" + policy}, isolationFlags(p)...)
	t.asJobsStart(ctx, asker, work, append(args, flagSessions))
	return nil
}

// trusting is the first start; false when it gave no answer.
func (t *selfTest) trusting(ctx context.Context, asker *probe.Asker, work string) bool {
	jobs := asker.Env
	asker.Env = append([]string{trusted}, jobs[1:]...)
	answer := asker.AskIn(ctx, work, flagSessions)
	asker.Env = jobs
	if t.trouble = probe.Trouble("gemini "+flagSessions, answer); t.trouble != "" {
		return false
	}
	said := probe.Text(answer)
	_, after, named := strings.Cut(said, saysMethod)
	switch {
	case named && strings.Contains(said, bait):
		t.method, _, _ = strings.Cut(after, "'")
	case strings.Contains(said, saysNoMethod):
		t.none = true
	default:
		t.project.Evidence = "self-test: in a trusted folder the folder's settings were not seen to count either: " + firstSaid(said)
		return true
	}
	t.project.Verified = true
	return true
}

// asJobsStart is the second start, with the settings and flags of a job.
func (t *selfTest) asJobsStart(ctx context.Context, asker *probe.Asker, work string, args []string) {
	answer := asker.AskIn(ctx, work, args...)
	if t.trouble = probe.Trouble("gemini "+flagSessions, answer); t.trouble != "" {
		return
	}
	said := probe.Text(answer)
	t.accepted = strings.Contains(string(answer.Stdout), saysNoSessions) && !strings.Contains(said, saysRefused)
	t.said = firstSaid(said)
	t.judgeProject(said)
	t.judgePolicy(said)
}

func (t *selfTest) judgeProject(said string) {
	switch {
	case !t.project.Verified:
	case strings.Contains(said, saysEnforced):
		t.project.Verified = false
		t.project.Evidence = "self-test: the folder's own settings were read"
	default:
		t.project.Evidence = "self-test: settings that stopped the program in a trusted folder did not stop it when started as for a job"
	}
}

// judgePolicy asks for a start that got as far as listing sessions, without a
// complaint about the policy.
func (t *selfTest) judgePolicy(said string) {
	switch why := policyTrouble(said); {
	case why != "":
		t.policy.Evidence = "self-test: " + why
	case !strings.Contains(said, saysNoSessions):
		t.policy.Evidence = "self-test: the program did not start far enough to tell whether it takes a policy: " + t.said
	default:
		t.policy.Verified = true
		t.policy.Evidence = "self-test: a policy file was taken without complaint"
	}
}

// policyTrouble is the line in which the program says that it does not go by the
// policy file it was given, or "".
func policyTrouble(said string) string {
	for line := range strings.SplitSeq(said, "\n") {
		if ignoresPolicy(line) {
			return probe.Bounded(strings.TrimSpace(line), evidenceLimit)
		}
	}
	return ""
}

// firstSaid is the first line that is not one of the program's standing warnings.
func firstSaid(said string) string {
	for line := range strings.SplitSeq(said, "\n") {
		if line = plain(line); line != "" && !isNoise(line) {
			return fmt.Sprintf("%q", probe.Bounded(line, 200))
		}
	}
	return "nothing"
}
