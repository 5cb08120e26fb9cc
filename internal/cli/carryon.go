package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"orchestrate/internal/detach"
)

// continueCommand is the hidden command of an engine that nobody watches: the rest of a
// run of which something came back from the hosting session.
const continueCommand = "continue"

// carryOnLimit is how long such an engine may take to take the run over.
const carryOnLimit = 30 * time.Second

// errSilent says that such an engine ended before it had taken the run over, and did not say
// why: it was killed, perhaps.
var errSilent = errors.New("its engine ended at once and did not say why")

// carryOn starts an engine that goes on with a run, and returns when it has taken the run
// over. That another one has done so meanwhile is as good.
func carryOn(ctx context.Context, sys System, dir string) error {
	if !detach.Available || sys.Self == "" {
		return fmt.Errorf("no engine can be started by itself on this system; go on with: orchestrate resume %s", dir)
	}
	eng, err := detach.Start(sys.Self, []string{launchCommand, continueCommand, dir}, sys.Env, sys.Cwd)
	if err != nil {
		return err
	}
	said := make(chan string, 1)
	go func() { said <- complaints(eng) }()
	began, status := taken(ctx, eng)
	err = eng.Close()
	text := <-said
	switch {
	case began, status == exitOK, status == exitRunning:
		return nil // what is left of its pipes is nobody's concern
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.TrimSpace(text) == "":
		return errSilent
	}
	return errors.Join(fmt.Errorf("the run could not be carried on: %s\nlook into that, then: orchestrate resume %s", strings.TrimSpace(text), dir), err)
}

// complaints are what an engine prints until it is let go of, as far as it tells why it
// did not begin.
func complaints(eng *detach.Viewer) string {
	var text bytes.Buffer
	go func() { _, _ = io.Copy(io.Discard, eng.Stdout) }() // ends with the pipe
	_, _ = io.Copy(&text, io.LimitReader(eng.Stderr, 16<<10))
	return text.String()
}

// taken waits until an engine has taken its run over, or has ended without that.
func taken(ctx context.Context, eng *detach.Viewer) (began bool, status int) {
	ctx, cancel := context.WithTimeout(ctx, carryOnLimit)
	defer cancel()
	for {
		select {
		case m, ok := <-eng.Messages():
			switch {
			case !ok:
				return false, exitFailed
			case m.Begun != nil:
				return true, exitOK
			case m.Ended != nil:
				return false, m.Ended.Status
			}
		case <-ctx.Done():
			return false, exitFailed
		}
	}
}
