package report

import (
	"cmp"
	"fmt"
	"strings"

	"orchestrate/internal/figure"
)

func (r Report) patches(p *page) {
	var waiting, applied []Patch
	for _, x := range r.Patches {
		if x.Applied {
			applied = append(applied, x)
		} else {
			waiting = append(waiting, x)
		}
	}
	p.patchList("Patches awaiting integration"+r.mark(), r.takeOver(), waiting)
	p.patchList("Patches already in your checkout"+r.mark(), "To undo one, from the workspace root:", applied)
}

// takeOver says how the patches are taken over.
func (r Report) takeOver() string {
	byHand := "by hand, from the workspace root, without predictions and checks:"
	if command := r.Integrate(); command != "" {
		return "Look at them and take them over, with their checks run on the result first:\n\n" + block("sh", command) + "\nOr " + byHand
	}
	return "`orchestrate integrate` takes over only what passed. B" + byHand[1:]
}

func (p *page) patchList(heading, lead string, all []Patch) {
	if len(all) == 0 {
		return
	}
	p.heading(heading)
	p.say("%s", lead)
	for _, x := range all {
		p.say("\n- job %s%s: %s, %s, on base %s, branch %s, patch %s%s\n",
			code(x.Job), x.builtOn(), x.Extent(), byteText(x.Bytes), code(x.Base), code(x.Branch), code(x.Path), x.copied())
		p.WriteString(x.changed())
		p.WriteString(block("sh", cmp.Or(x.Undo, x.Apply)))
	}
}

// mostStat bounds what of a diffstat is shown, in lines.
const mostStat = 30

// changed shows what the patch changes, file by file.
func (x Patch) changed() string {
	lines := strings.SplitAfter(x.Stat, "\n")
	if len(lines) > mostStat {
		lines = append(lines[:mostStat], fmt.Sprintf("… and more: see %s\n", x.Diffstat))
	}
	if x.Stat == "" {
		return ""
	}
	return block("text", strings.TrimSuffix(strings.Join(lines, ""), "\n")) + "\n"
}

// Extent is how much a patch changes, in words.
func (x Patch) Extent() string {
	binary := ""
	if x.Binary > 0 {
		binary = fmt.Sprintf(", %d of them binary", x.Binary)
	}
	return fmt.Sprintf("%s%s (%s added, %d deleted)", figure.Count(x.Files, "file"), binary, figure.Count(x.Added, "line"), x.Deleted)
}

// builtOn names the patch that must be there first.
func (x Patch) builtOn() string {
	if x.After == "" {
		return ""
	}
	return ", after the patch of " + code(x.After)
}

// copied says that the file is not the patch itself.
func (x Patch) copied() string {
	if x.DisplayOnly {
		return " (a copy without the secrets in it, which cannot be applied)"
	}
	return ""
}
