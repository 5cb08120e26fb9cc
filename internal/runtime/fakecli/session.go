package fakecli

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// session is what a conversation was told before, kept where the CLI keeps its own. It
// belongs to a folder, as theirs do.
type session struct {
	ID      string
	Cwd     string
	Prompts []string
}

// errNoSession says that no conversation has the id, in this folder.
var errNoSession = errors.New("no conversation")

// converse begins a conversation, or goes on with the one of that id, and keeps what it
// is told now. state is the CLI's own folder below the home, preset the id of a fresh one
// where the scenario keeps no sessions.
func (c *call) converse(state, id, preset, prompt string) (*session, error) {
	if c.scenario.Renews && id != "" {
		return &session{ID: freshID()}, nil
	}
	if !c.scenario.Sessions {
		if id == "" {
			id = preset
		}
		return &session{ID: id}, nil
	}
	s := &session{ID: id, Cwd: workingFolder()}
	if id == "" {
		s.ID = freshID()
	}
	dir := filepath.Join(os.Getenv("HOME"), state, "fake-sessions")
	file := filepath.Join(dir, s.ID+".json")
	if id != "" {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errNoSession
		}
		was := session{}
		if err = errors.Join(err, json.Unmarshal(data, &was)); err != nil {
			return nil, err
		}
		if was.Cwd != s.Cwd {
			return nil, errNoSession
		}
		s.Prompts = was.Prompts
	}
	data, err := json.Marshal(session{ID: s.ID, Cwd: s.Cwd, Prompts: append(s.Prompts, prompt)})
	if err != nil {
		return nil, err
	}
	return s, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, data, 0o600))
}

// recalled is what the conversation was told before that looks like this.
func (s *session) recalled(pattern *regexp.Regexp) string {
	if s == nil {
		return ""
	}
	return pattern.FindString(strings.Join(s.Prompts, "\n"))
}

// turns counts the prompts, this one included.
func (s *session) turns() int64 { return int64(len(s.Prompts)) + 1 }

func freshID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
