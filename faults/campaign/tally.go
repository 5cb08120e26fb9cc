//go:build linux

package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Count is one line of the tally: a file outside the workspace in which the jobs'
// programs say that they ran. What is written there is a side effect that nobody
// can take back. A stand-in knows the number of its attempt, another program the mark.
type Count struct {
	Job     string `json:"job"`
	Attempt int    `json:"attempt,omitempty"`
	Mark    string `json:"mark,omitempty"`
	What    string `json:"what"` // start, child, end, or beside
	PID     int    `json:"pid,omitempty"`
	Start   uint64 `json:"start,omitempty"`
	Text    string `json:"text,omitempty"`
}

// The kinds of line.
const (
	countStart  = "start"
	countChild  = "child"  // a process that a program started
	countEnd    = "end"    // the program is about to exit
	countBeside = "beside" // a process of an older attempt lived when this one started
)

// enter adds a program's or child's line, and one for each process of another
// attempt of the same job that is alive at that moment. Everybody does this under
// the file's lock, so of two that overlap the later one sees the earlier.
func enter(tally string, me Count) error {
	f, err := os.OpenFile(tally, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // errors of writing come from the write
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	self, ok := Look(os.Getpid())
	if !ok {
		return errors.New("no /proc")
	}
	me.PID, me.Start = self.PID, self.Start
	earlier, err := ReadTally(tally)
	if err != nil {
		return err
	}
	lines := []Count{me}
	for _, c := range earlier {
		if c.Job != me.Job || c.Mark == me.Mark || c.PID == 0 {
			continue
		}
		if p, ok := Look(c.PID); ok && p.Start == c.Start {
			lines = append(lines, Count{Job: me.Job, Mark: me.Mark, What: countBeside, Text: fmt.Sprintf("attempt %s: %s", c.Mark, p)})
		}
	}
	var data []byte
	for _, c := range lines {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		data = append(append(data, line...), '\n')
	}
	_, err = f.Write(data)
	return err
}

// ReadTally reads what the programs wrote. No file is no error.
func ReadTally(path string) (all []Count, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(data) {
		var c Count
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, line, err)
		}
		all = append(all, c)
	}
	return all, err
}

// judgeTally finds attempts that ran twice, programs of attempts that no lock knows,
// and those that ran beside an older attempt of the same job.
func judgeTally(all []Count, held []Held) (broken []Fault) {
	numbers := map[string]int{}
	for _, h := range held {
		numbers[h.Mark] = h.Attempt
	}
	type key struct {
		job     string
		attempt int
		what    string
	}
	seen := map[key]int{}
	for _, c := range all {
		attempt, known := c.Attempt, true
		if c.Mark != "" {
			attempt, known = numbers[c.Mark]
		}
		k := key{c.Job, attempt, c.What}
		switch {
		case !known:
			broken = append(broken, Fault{Doubled, fmt.Sprintf("job %s: the %s of a program is in the tally, and no attempt's lock has its mark %s", c.Job, c.What, c.Mark)})
		case c.What == countBeside:
			broken = append(broken, Fault{Doubled, fmt.Sprintf("job %s: attempt %d started beside a process of %s", c.Job, attempt, c.Text)})
		case c.What != countChild:
			if seen[k]++; seen[k] == 2 {
				broken = append(broken, Fault{Doubled, fmt.Sprintf("job %s: the %s of attempt %d is in the tally twice", c.Job, c.What, attempt)})
			}
		}
	}
	return broken
}
