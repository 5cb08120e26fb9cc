package script

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"orchestrate/internal/runtime/standin"
)

// options are the stand-in's flags.
type options struct {
	job, task, script, access, out, expected string
	attempt                                  int
	owned, outputs, judged                   []string
}

// Main runs the stand-in program and returns its exit status: 0 or the one that
// the script gives, 2 for a usage or script error, 1 when a step could not be played.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	opt, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	prompt, err := io.ReadAll(stdin)
	if err != nil {
		fmt.Fprintf(stderr, "standin: reading the prompt: %v\n", err)
		return 1
	}
	steps, scripted, err := load(opt)
	if err != nil {
		fmt.Fprintf(stderr, "standin: %v\n", err)
		return 2
	}
	p := &player{opt: opt, emit: lines(stdout), err: stderr, mark: marked, prompt: string(prompt)}
	if err := p.run(steps, scripted); err != nil {
		fmt.Fprintf(stderr, "standin: %v\n", err)
		return 1
	}
	return p.exit
}

func (p *player) run(steps []Step, scripted bool) error {
	if err := p.session(); err != nil {
		return err
	}
	perform := p.rehearse
	if scripted {
		perform = func() error { return p.play(steps) }
	}
	if err := perform(); err != nil {
		return err
	}
	return p.finish()
}

// lines prints each line as one JSON object.
func lines(out io.Writer) func(standin.Line) error {
	return func(l standin.Line) error {
		data, err := json.Marshal(l)
		if err != nil {
			return err
		}
		_, err = out.Write(append(data, '\n'))
		return err
	}
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("standin", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.job, "job", "", "the job's id")
	f.IntVar(&o.attempt, "attempt", 1, "the attempt, from 1")
	f.StringVar(&o.task, "task", "", "the job's task word")
	f.StringVar(&o.script, "script", "", "the script to play; none = a plain rehearsal")
	f.StringVar(&o.access, "access", "read", "what a real agent might do: read, edit or shell")
	f.StringVar(&o.out, "out", os.Getenv("ORCHESTRATE_OUT"), "the artifacts folder")
	f.StringVar(&o.expected, "expected", "", "the expected output, repeated in the answer")
	list(f, &o.owned, "owned", "a glob that the job may write (repeatable)")
	list(f, &o.outputs, "output", "a declared output (repeatable)")
	list(f, &o.judged, "judge", "ID or ID=KIND:REF, a job to judge and what to cite for it (repeatable)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.job == "" || f.NArg() > 0 {
		err := fmt.Errorf("usage: standin --job=ID [flags]; found %q", strings.Join(args, " "))
		fmt.Fprintln(stderr, err)
		return o, err
	}
	return o, nil
}

func list(f *flag.FlagSet, to *[]string, name, usage string) {
	f.Func(name, usage, func(v string) error {
		*to = append(*to, v)
		return nil
	})
}

// load finds the steps of this job and attempt. A script that has none for the
// job leaves it to the plain rehearsal.
func load(o options) (steps []Step, scripted bool, err error) {
	if o.script == "" {
		return nil, false, nil
	}
	s, err := Load(o.script)
	if err != nil {
		return nil, false, err
	}
	all, scripted := s.Jobs[o.job]
	for _, step := range all {
		if step.Attempt == 0 || step.Attempt == o.attempt {
			steps = append(steps, step)
		}
	}
	return steps, scripted, nil
}
