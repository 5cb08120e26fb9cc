package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orchestrate/internal/skill"
	"orchestrate/plugins"
)

const skillHelp = `The skill is a folder of text (Agent Skills format) that tells a coding agent how to
write a spec, run it and take part in it. Where it goes:

  --claude   ~/.claude/skills (or in CLAUDE_CONFIG_DIR), for Claude Code
  --agents   ~/.agents/skills, for codex and others that read it
  --codex    ~/.codex/skills (or in CODEX_HOME), for codex
  --dir D    any other folder of skills
  --project  the same in this workspace: .claude/skills, or .agents/skills for the others

`

func newSkill(sys System) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "Install the skill with which a coding agent drives this program",
		Long:  "Install or remove the skill with which a coding agent drives this program.\n\n" + skillHelp,
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSkillInstall(sys), newSkillUninstall(sys))
	return cmd
}

type skillOptions struct {
	skillTargets
	dry, force bool
}

func (o *skillOptions) flags(cmd *cobra.Command) {
	o.skillTargets.flags(cmd)
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "show what would be done, and do nothing")
}

func newSkillInstall(sys System) *cobra.Command {
	opts := skillOptions{}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Put the skill where a coding agent looks for it, or bring it up to date",
		Long: skillHelp + `What will be written is shown first. A file that was changed since it was installed is
never overwritten without --force: nothing is written at all then. Without a target it
says what is where.

Exit status: 0 it is there; 1 it is not; 2 no target, or a usage error.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return runSkillInstall(sys, opts) },
	}
	opts.flags(cmd)
	cmd.Flags().BoolVar(&opts.force, "force", false, "overwrite files that were changed since they were installed")
	return cmd
}

func newSkillUninstall(sys System) *cobra.Command {
	opts := skillOptions{}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the skill as it was installed",
		Long: skillHelp + `Only files that are as they were installed go, and folders that were made for them and
are empty then.

Exit status: 0 nothing that was installed is left; 1 something is, and it says what;
2 no target, or a usage error.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return runSkillUninstall(sys, opts) },
	}
	opts.flags(cmd)
	return cmd
}

func runSkillInstall(sys System, opts skillOptions) error {
	s, err := ownSkill(sys)
	if err != nil {
		return failure(err)
	}
	places, err := opts.places(sys)
	switch {
	case err != nil:
		return err
	case len(places) == 0:
		showSkillPlaces(sys, s, opts.project)
		return usageError(errors.New("say where: --claude, --agents, --codex or --dir D; --project for this workspace instead of your home folder"))
	}
	changed, err := showSkillSteps(sys, s, places)
	switch {
	case err != nil:
		return failure(err)
	case len(changed) > 0 && !opts.force:
		return failure(fmt.Errorf("nothing was written, because these differ from all that was installed there: %s; move what you want to keep, or overwrite it with --force", strings.Join(changed, ", ")))
	case opts.dry:
		return nil
	}
	for _, p := range places {
		if err := s.Install(p, opts.force); err != nil {
			return failure(err)
		}
	}
	fmt.Fprintf(sys.Out, "installed for orchestrate %s; next: begin a new session of the agent and say /orchestrate, or what you want done in parallel\n", sys.Version)
	return nil
}

// ownSkill is the one that this program carries.
func ownSkill(sys System) (skill.Skill, error) {
	files, err := plugins.Skill()
	if err != nil {
		return skill.Skill{}, err
	}
	return skill.Read(sys.Version, files)
}

// showSkillSteps says what an installation would do, file by file, before it does it.
// changed are files that only force overwrites.
func showSkillSteps(sys System, s skill.Skill, places []skill.Place) (changed []string, err error) {
	for _, p := range places {
		v, err := s.Look(p)
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(sys.Out, p.Path())
		for _, step := range v.Steps {
			fmt.Fprintf(sys.Out, "  %-8s %s\n", step.Do, step.File)
		}
		list := skill.Write
		if v.Current() && v.Installed == s.Version {
			list = skill.Same
		}
		fmt.Fprintf(sys.Out, "  %-8s %s (what was written, for the next install or uninstall)\n", list, skill.ManifestFile)
		changed = append(changed, filesAt(p, v.With(skill.Changed))...)
	}
	return changed, nil
}

// filesAt are the full names of files of the skill in a place.
func filesAt(p skill.Place, files []string) (all []string) {
	for _, file := range files {
		all = append(all, filepath.Join(p.Path(), filepath.FromSlash(file)))
	}
	return all
}

// showSkillPlaces says what is where, since none of the places goes without saying.
func showSkillPlaces(sys System, s skill.Skill, project bool) {
	for _, r := range skillReaders() {
		p, err := r.place(sys, project)
		if err != nil {
			fmt.Fprintf(sys.Out, "--%-7s %v\n", r.flag, err)
			continue
		}
		v, err := s.Look(p)
		fmt.Fprintf(sys.Out, "--%-7s %s: %s\n", r.flag, p.Path(), skillState(v, err))
	}
}

// skillState says in a few words what is in a place.
func skillState(v skill.View, err error) string {
	switch changed := v.With(skill.Changed); {
	case err != nil:
		return err.Error()
	case len(changed) > 0:
		return "there, with files that were changed: " + strings.Join(changed, ", ")
	case v.Fresh():
		return "not installed"
	case v.Current():
		return "installed"
	}
	return "installed, not up to date"
}

func runSkillUninstall(sys System, opts skillOptions) error {
	places, err := opts.places(sys)
	if err != nil {
		return err
	}
	if len(places) == 0 {
		return usageError(errors.New("say where: --claude, --agents, --codex or --dir D, with --project for this workspace; `orchestrate skill install` shows what is where"))
	}
	var kept []string
	for _, p := range places {
		r, err := skill.Uninstall(p, opts.dry)
		if err != nil {
			return failure(err)
		}
		showRemoval(sys, p, r)
		kept = append(kept, filesAt(p, r.Kept)...)
	}
	if len(kept) > 0 {
		return failure(fmt.Errorf("changed since they were installed, so they are yours to remove: %s", strings.Join(kept, ", ")))
	}
	return nil
}

func showRemoval(sys System, p skill.Place, r skill.Removal) {
	fmt.Fprintln(sys.Out, p.Path())
	if !r.Found {
		fmt.Fprintln(sys.Out, "  nothing that `orchestrate skill install` put there; a copy made by hand is yours to remove")
	}
	for _, file := range r.Removed {
		fmt.Fprintf(sys.Out, "  remove   %s\n", file)
	}
	for _, file := range r.Kept {
		fmt.Fprintf(sys.Out, "  keep     %s\n", file)
	}
}
