package script

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// arbiterTask is the task word of the arbiter's own job.
const arbiterTask = "arbiter"

// rehearse plays a job that no script describes.
func (p *player) rehearse() error {
	if err := p.say(fmt.Sprintf("job %s, task %s, a prompt of %d bytes", p.opt.job, p.opt.task, len(p.prompt))); err != nil {
		return err
	}
	if p.opt.task == arbiterTask || len(p.opt.judged) > 0 {
		return p.verdict(passing(p.prompt, p.opt.judged))
	}
	made, err := p.declared()
	if err != nil || made || p.opt.access == "read" {
		return err
	}
	return p.change()
}

// declared makes the outputs that are not there yet: a writer's in its tree, an
// observer's among the artifacts.
func (p *player) declared() (made bool, err error) {
	for _, name := range p.opt.outputs {
		if p.opt.access == "read" {
			if p.opt.out == "" {
				return made, fmt.Errorf("output %s: no artifacts folder was given", name)
			}
			name = "$ORCHESTRATE_OUT/" + name
		}
		if info, err := os.Stat(p.path(name)); err == nil && info.Size() > 0 {
			continue
		}
		if err := p.put("Write", File{name, p.note()}, os.O_TRUNC); err != nil {
			return made, err
		}
		made = true
	}
	return made, nil
}

// change leaves one small change inside the first owned path.
func (p *player) change() error {
	target := "REHEARSAL-" + p.opt.job + ".md"
	if len(p.opt.owned) > 0 {
		target = within(p.opt.owned[0], p.opt.job)
	}
	if _, err := os.Stat(p.path(target)); err == nil {
		// A line end more changes the file and breaks nothing that reads it.
		return p.put("Edit", File{target, "\n"}, os.O_APPEND)
	}
	return p.put("Write", File{target, p.note()}, os.O_TRUNC)
}

func (p *player) note() string {
	return marked(fmt.Sprintf("written by the stand-in for job %s.\n", p.opt.job))
}

// within names a file that the glob matches. A name that begins with an underscore
// is skipped by the tools that build what is beside it.
func within(glob, job string) string {
	glob = path.Clean(firstChoice(glob))
	base, pattern := doublestar.SplitPattern(glob)
	if !strings.ContainsAny(pattern, "*?[{") {
		if info, err := os.Stat(filepath.FromSlash(glob)); err == nil && info.IsDir() {
			return path.Join(glob, "REHEARSAL-"+job+".md")
		}
		return glob
	}
	for _, name := range [...]string{
		"REHEARSAL-" + job + ".md",
		"_rehearsal-" + job + path.Ext(pattern),
		strings.NewReplacer("**/", "", "**", "*").Replace(pattern),
	} {
		name = strings.ReplaceAll(name, "*", "_rehearsal-"+job)
		full := path.Join(base, name)
		if ok, err := doublestar.Match(glob, full); err == nil && ok {
			return full
		}
	}
	return path.Join(base, "REHEARSAL-"+job+".md")
}

// firstChoice takes the first alternative of each {a,b}.
func firstChoice(glob string) string {
	before, rest, ok := strings.Cut(glob, "{")
	choices, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return glob
	}
	first, _, _ := strings.Cut(choices, ",")
	return before + first + firstChoice(after)
}
