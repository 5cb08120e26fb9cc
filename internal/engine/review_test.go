package engine

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

// A git that goes on in a tree whose engine was killed is waited for.
func TestATreeThatGitFillsIsNotRemovedYet(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) *exec.Cmd {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		return cmd
	}
	if err := git("init", "-q").Run(); err != nil {
		t.Fatal(err)
	}
	if err := gitEnds(t.Context(), dir); err != nil {
		t.Errorf("nobody works in it: %v", err)
	}
	filling := git("cat-file", "--batch")
	in, err := filling.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := filling.Start(); err != nil {
		t.Fatal(err)
	}
	defer filling.Wait()
	defer in.Close()
	if len(occupants()) == 0 {
		return // this system does not say where processes work
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := gitEnds(ctx, dir); err == nil || !strings.Contains(err.Error(), "still fills") {
		t.Errorf("git works in it: %v", err)
	}
	ended := make(chan error)
	go func() { ended <- gitEnds(t.Context(), dir) }()
	in.Close()
	filling.Wait()
	if err := <-ended; err != nil {
		t.Errorf("it has ended: %v", err)
	}
}
