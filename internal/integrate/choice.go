package integrate

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"orchestrate/internal/shellword"
)

// Choose marks the works that are wanted, all when none is named, without those that are
// on the target already. why says what keeps the choice from being made. works come each
// after those it builds on.
func Choose(works []Work, wanted []string) (why []string) {
	for i := range works {
		w := &works[i]
		w.Chosen = w.Done == "" && (len(wanted) == 0 || slices.Contains(wanted, w.Job))
	}
	for _, w := range works {
		on, ok := find(works, w.BuildsOn)
		if w.Chosen && ok && !on.Chosen && on.Done == "" {
			why = append(why, fmt.Sprintf("job %s builds on job %s, whose work is not chosen and not on the target: choose it too", w.Job, on.Job))
		}
	}
	return why
}

func find(works []Work, job string) (Work, bool) {
	i := slices.IndexFunc(works, func(w Work) bool { return w.Job == job })
	if job == "" || i < 0 {
		return Work{}, false
	}
	return works[i], true
}

// Chosen are the works that are going to be integrated.
func Chosen(works []Work) (all []Work) {
	for _, w := range works {
		if w.Chosen {
			all = append(all, w)
		}
	}
	return all
}

// Ground is the commit at which the changes of a work begin that the target has not: its
// own base, or that of the first work below it that is still to come.
func Ground(works []Work, w Work) string {
	for {
		on, ok := find(works, w.BuildsOn)
		if !ok || on.Done != "" {
			return w.Base
		}
		w = on
	}
}

// Bottom is the commit at which a work and all that it builds on began.
func Bottom(works []Work, w Work) string {
	for {
		on, ok := find(works, w.BuildsOn)
		if !ok {
			return w.Base
		}
		w = on
	}
}

// below reports whether a work builds on another, whatever lies between.
func below(works []Work, w Work, job string) bool {
	for w.BuildsOn != "" {
		if w.BuildsOn == job {
			return true
		}
		on, ok := find(works, w.BuildsOn)
		if !ok {
			return false
		}
		w = on
	}
	return false
}

// mostPaired is how many works are held against each other one by one, whatever they
// changed.
const mostPaired = 64

// Pairs are the chosen works that are held against each other, by their places in works:
// none with what it builds on. Of very many only those that changed the same file or
// files of the same folder, which note then says.
func Pairs(works []Work) (pairs [][2]int, note string) {
	near := func(int, int) bool { return true }
	if n := len(Chosen(works)); n > mostPaired {
		near = neighbours(works)
		note = fmt.Sprintf("of %d jobs only those that changed files of the same folder were held against each other; what this does not foresee still shows when the result is made", n)
	}
	for i := range works {
		for k := range i {
			if works[i].Chosen && works[k].Chosen && !below(works, works[i], works[k].Job) && near(k, i) {
				pairs = append(pairs, [2]int{k, i})
			}
		}
	}
	return pairs, note
}

// neighbours tells which works changed something in one folder, or where the other
// changed a folder above it.
func neighbours(works []Work) func(a, b int) bool {
	folders := make([]map[string]bool, len(works))
	for i, w := range works {
		folders[i] = map[string]bool{}
		for _, f := range w.Files {
			folders[i][path.Dir(f.Path)] = true
			folders[i][f.Path] = true // a folder for another, perhaps
		}
	}
	return func(a, b int) bool {
		for name := range folders[a] {
			if folders[b][name] {
				return true
			}
		}
		return false
	}
}

// Largest are the jobs of a set without conflicts: each in turn, if it fits with the
// target, those before it, and what it builds on is there.
func Largest(works []Work, m Matrix) (jobs []string) {
	in := map[string]bool{}
	clash := func(a, b string) bool {
		return slices.ContainsFunc(slices.Concat(m.Target, m.Pairs), func(c Clash) bool { return c.A == a && c.B == b || c.A == b && c.B == a })
	}
	for _, w := range Chosen(works) {
		on, stacked := find(works, w.BuildsOn)
		fits := !clash(w.Job, "") && (!stacked || on.Done != "" || in[on.Job]) &&
			!slices.ContainsFunc(jobs, func(job string) bool { return clash(w.Job, job) })
		if fits {
			in[w.Job] = true
			jobs = append(jobs, w.Job)
		}
	}
	return jobs
}

// Clashes says what cannot be merged, a sentence each.
func Clashes(m Matrix, target string) (why []string) {
	for _, c := range m.Target {
		why = append(why, fmt.Sprintf("job %s cannot be merged with %s: %s", c.A, target, Names(c.Files)))
	}
	for _, c := range m.Pairs {
		why = append(why, fmt.Sprintf("jobs %s and %s cannot be merged with each other: %s", c.A, c.B, Names(c.Files)))
	}
	return why
}

// mostNamed is how many files a sentence names.
const mostNamed = 10

// Names are files for a sentence, each quoted where something in its name could not be
// seen.
func Names(files []string) string {
	var shown []string
	for _, name := range files[:min(len(files), mostNamed)] {
		if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
			name = quoted
		}
		shown = append(shown, name)
	}
	text := strings.Join(shown, ", ")
	if more := len(files) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Command is what a person calls to integrate some jobs, all when none is named.
func Command(runID string, jobs []string, strategy, branch string) string {
	words := []string{"orchestrate", "integrate", runID}
	for _, job := range jobs {
		words = append(words, "--job", job)
	}
	if strategy != Merge {
		words = append(words, "--strategy", strategy)
	}
	if branch != "" {
		words = append(words, "--branch", branch)
	}
	return shellword.Join(words)
}

// Message is the message of a commit that brings a job's work.
func Message(runID, job, verdict, about string) string {
	text := job + ": " + about
	return strings.TrimSuffix(text, ": ") + "\n\nOrchestrate-Run: " + runID + "\nOrchestrate-Job: " + job + "\nOrchestrate-Verdict: " + verdict
}
