// Package gocache lets go build on the person's build cache without writing to it. It is
// the program behind GOCACHEPROG: what is asked for is looked up in a private cache and
// then in the person's, and what is new goes to the private one. Nothing is copied, so a
// job begins with everything that was ever built here at the cost of nothing.
//
// Go from 1.24 on asks such a program; older ones ignore the variable.
package gocache

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Command is the hidden command of this program that go starts, with the person's cache
// and the private one as its arguments.
const Command = "go-cache"

// keeps is for how long an output of the person's cache is sure to stay after its last
// noted use, for the build that gets it now. Go clears away after 5 days.
const keeps = 4 * 24 * time.Hour

// request and response are go's messages (cmd/go/internal/cacheprog).
type request struct {
	ID       int64
	Command  string
	ActionID []byte
	OutputID []byte
	ObjectID []byte // what OutputID was called before Go 1.24
	BodySize int64
}

type response struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// Main serves one go command on its standard streams and returns the exit status.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintf(errOut, "usage: orchestrate %s PERSONS-CACHE PRIVATE-CACHE (go starts it)\n", Command)
		return 2
	}
	s := server{seed: folder(args[0]), own: folder(args[1]), now: time.Now}
	if err := s.serve(in, out); err != nil {
		fmt.Fprintf(errOut, "orchestrate: go's build cache: %v\n", err)
		return 1
	}
	return 0
}

type server struct {
	seed, own folder
	now       func() time.Time
}

// serve answers one request after another until go closes.
func (s server) serve(in io.Reader, out io.Writer) error {
	from, answers := bufio.NewReaderSize(in, 1<<16), json.NewEncoder(out)
	if err := answers.Encode(response{KnownCommands: []string{"get", "put", "close"}}); err != nil {
		return err
	}
	for {
		req, err := next(from)
		if errors.Is(err, io.EOF) { // go ended without a word
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := s.answer(req, from)
		if err != nil {
			return err
		}
		if err := answers.Encode(answer); err != nil || req.Command == "close" {
			return err
		}
	}
}

// next reads the next request; empty lines are between them.
func next(from *bufio.Reader) (req request, err error) {
	for {
		line, err := from.ReadString('\n')
		if strings.Trim(line, "\"\r\n") != "" {
			if err := json.Unmarshal([]byte(line), &req); err != nil {
				return req, fmt.Errorf("a request that cannot be read: %w", err)
			}
			return req, nil
		}
		if err != nil {
			return req, err
		}
	}
}

// answer carries a request out. An error is only one of the connection itself.
func (s server) answer(req request, from *bufio.Reader) (response, error) {
	if req.Command == "close" {
		return response{ID: req.ID}, nil
	}
	if len(req.OutputID) == 0 {
		req.OutputID = req.ObjectID
	}
	var body io.Reader = strings.NewReader("")
	if req.Command == "put" && req.BodySize > 0 {
		coded, err := text(from, req.BodySize)
		if err != nil {
			return response{}, err
		}
		defer io.Copy(io.Discard, coded) //nolint:errcheck // the next read meets the same error
		body = base64.NewDecoder(base64.StdEncoding, coded)
	}
	o, err := s.do(req, body)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return response{ID: req.ID, Miss: true}, nil
	case err != nil:
		return response{ID: req.ID, Err: err.Error()}, nil
	}
	return response{ID: req.ID, OutputID: o.output, Size: o.size, Time: &o.made, DiskPath: o.path}, nil
}

// text is the base64 of a body of that size, which stands in quotes on a line of its
// own; what is left of that line is taken for an empty one.
func text(from *bufio.Reader, size int64) (io.Reader, error) {
	c, err := from.ReadByte()
	for err == nil && (c == '\n' || c == '\r') {
		c, err = from.ReadByte()
	}
	if err != nil {
		return nil, err
	}
	if c != '"' {
		return nil, fmt.Errorf("a body that begins with %q", c)
	}
	return io.LimitReader(from, (size+2)/3*4), nil
}

// do gets or puts; os.ErrNotExist says that there is nothing to get.
func (s server) do(req request, body io.Reader) (object, error) {
	if len(req.ActionID) != idSize || req.Command == "put" && len(req.OutputID) != idSize {
		return object{}, fmt.Errorf("%s with an id of another length", req.Command)
	}
	switch req.Command {
	case "put":
		return s.own.put(req.ActionID, req.OutputID, body, req.BodySize, s.now())
	case "get":
		return s.get(req.ActionID)
	}
	return object{}, fmt.Errorf("%s is no command of a build cache", req.Command)
}

// get looks in the private cache and then in the person's. What that may soon lose is
// copied, since go counts on it until it ends.
func (s server) get(action []byte) (object, error) {
	if o, ok := s.own.get(action); ok {
		return o, nil
	}
	o, ok := s.seed.get(action)
	if !ok {
		return object{}, os.ErrNotExist
	}
	if s.now().Sub(o.used) < keeps {
		return o, nil
	}
	file, err := os.Open(o.path)
	if err != nil {
		return object{}, os.ErrNotExist
	}
	defer file.Close()
	return s.own.put(action, o.output, file, o.size, o.made)
}
