package engine

import (
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/untrusted"
)

func TestTheNextStepOfATrespass(t *testing.T) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	for name, c := range map[string]struct {
		said      string
		want, not []string
	}{
		"its own tree": {"docs/a.md, b.txt", []string{"widen owned_paths"}, []string{"git status"}},
		"the checkout": {
			"docs/a.md of the shared checkout",
			[]string{"if it was you", "nothing is wrong with the job's work (build/changes.patch)", "`orchestrate resume 1 --retry-failed`", "`git status` and `git diff`"},
			[]string{"widen owned_paths", "git reset", "git directory"},
		},
		"a moved branch": {
			".git/config of the shared checkout, .git/refs/heads/x (was at " + sha + ") of the shared checkout, .git/refs/heads/y (new) of the shared checkout, HEAD (was at " + sha + ") of the shared checkout",
			[]string{"`git reset --keep 0123456789ab`", "`git update-ref refs/heads/x 0123456789ab`", "look into config of the git directory"},
			[]string{"refs/heads/y"},
		},
		"another job's tree": {"x of the tree of job other", []string{"if it was you", "another job's tree"}, []string{"git status"}},
	} {
		t.Run(name, func(t *testing.T) {
			tr := troubled(runtime.ReasonOwnership)
			tr.status.ReasonEvidence = untrusted.From("changed outside owned_paths: " + c.said)
			step := tr.nextStep()
			for _, want := range c.want {
				if !strings.Contains(step, want) {
					t.Errorf("it does not say %q: %s", want, step)
				}
			}
			for _, not := range c.not {
				if strings.Contains(step, not) {
					t.Errorf("it says %q: %s", not, step)
				}
			}
		})
	}
}

func TestWhereASecretStillIsIsSaid(t *testing.T) {
	tr := troubled(runtime.ReasonInjectedSecret)
	if step := tr.nextStep(); strings.Contains(step, "branch") {
		t.Errorf("it has no branch: %s", step)
	}
	branch := "orchestrate/1/build"
	tr.status.Branch = &branch
	if step := tr.nextStep(); !strings.Contains(step, "on branch orchestrate/1/build") {
		t.Errorf("the branch is not named: %s", step)
	}
}
