package route

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"orchestrate/internal/policy"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
)

// How well an agent of the hosting session fits a job is told from what the session says
// of it: a score that is the same for the same words. It only orders agents that hold
// what the job needs; it gives none of them anything.

// What counts, and how much at the most.
const (
	nameCounts   = 4 // a word of the task in its name
	aboutCounts  = 2 // each such word in its description, …
	mostAbout    = 3 // … up to so many
	toolsCount   = 2 // its tools do what the effect needs and no more
	mostOfPrompt = 3 // words of the prompt in its description, each counts one
	plainPrompt  = 2 // so many of them alone make it fit
	shortWord    = 4 // letters of the shortest word that says anything
)

// match is how well an agent fits a job.
type match struct {
	score int
	fits  bool // something that is said of it has to do with the task
	why   []string
}

// kin are beginnings of words that go with a task.
func kin(task string) []string {
	return map[string][]string{
		"scout":            {"scout", "explor", "search", "find", "locat", "discover", "inspect", "navigat", "reader", "reads", "reading", "answer", "question", "understand"},
		"research":         {"research", "investigat", "explor", "search", "compar", "survey", "literature", "reader", "reads", "reading", "answer", "question", "understand"},
		"analysis":         {"analy", "investigat", "diagnos", "debug", "reason", "profil", "assess"},
		"architecture":     {"architect", "design", "plan", "structur", "blueprint"},
		"implement":        {"implement", "develop", "coder", "coding", "build", "engineer", "program", "fix"},
		"review":           {"review", "critic", "critique", "quality", "inspect"},
		"audit":            {"audit", "complian", "review", "verif"},
		"security":         {"secur", "vulnerab", "threat", "audit", "pentest"},
		"synthesis":        {"synthes", "summar", "combin", "consolidat", "merge"},
		"test":             {"test", "coverage", "verif", "quality"},
		"docs":             {"docs", "document", "readme", "writ", "explain"},
		"writing":          {"writ", "author", "draft", "copy", "prose"},
		"mechanical":       {"mechanic", "refactor", "rename", "format", "migrat", "bulk", "cleanup", "repetitive"},
		policy.TaskArbiter: nil,
	}[task]
}

// wanted is what agents are matched against.
type wanted struct {
	kin    []string
	asked  map[string]bool // words of the prompt that say something
	writes bool
}

// longestPrompt is how much of a prompt counts, in bytes.
const longestPrompt = 4 << 10

func wantedOf(j *spec.Job) wanted {
	w := wanted{kin: kin(j.Task), asked: map[string]bool{}, writes: j.Writes()}
	for _, word := range words(j.Prompt[:min(len(j.Prompt), longestPrompt)]) {
		w.asked[word] = len(word) >= shortWord
	}
	for _, word := range plain() {
		delete(w.asked, word)
	}
	return w
}

// match holds an agent against what is wanted.
func (w wanted) match(a runtime.Agent) (m match) {
	add := func(n int, format string, args ...any) {
		m.score += n
		m.why = append(m.why, fmt.Sprintf("%d: ", n)+fmt.Sprintf(format, args...))
	}
	about := words(a.Description)
	if found := w.ofTask(words(a.Name), 1); len(found) > 0 {
		add(nameCounts, "its name says %s", found[0])
		m.fits = true
	}
	if found := w.ofTask(about, mostAbout); len(found) > 0 {
		add(aboutCounts*len(found), "its description says %s", strings.Join(found, ", "))
		m.fits = true
	}
	if found := w.ofPrompt(about); len(found) > 0 {
		add(len(found), "its description shares with the prompt: %s", strings.Join(found, ", "))
		m.fits = m.fits || len(found) >= plainPrompt
	}
	switch reach := a.Reach(); {
	case !w.writes && reach == runtime.AccessRead:
		add(toolsCount, "its tools only read, as the job does")
	case w.writes && reach == runtime.AccessEdit:
		add(toolsCount, "its tools edit and run nothing")
	}
	return m
}

// told is the score with where it comes from.
func (m match) told() string {
	text := fmt.Sprintf("score %d", m.score)
	if len(m.why) > 0 {
		text += " (" + strings.Join(m.why, "; ") + ")"
	}
	return text
}

// ofTask are some of the words that go with the task.
func (w wanted) ofTask(all []string, most int) []string {
	return some(all, most, func(word string) bool {
		return slices.ContainsFunc(w.kin, func(stem string) bool { return strings.HasPrefix(word, stem) })
	})
}

// ofPrompt are a few words that the prompt has too.
func (w wanted) ofPrompt(about []string) []string {
	return some(about, mostOfPrompt, func(word string) bool { return w.asked[word] })
}

// some are the first words of which something holds, each once.
func some(all []string, most int, holds func(string) bool) (found []string) {
	for _, word := range all {
		if len(found) < most && holds(word) && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	return found
}

// plain are words that say nothing about what somebody is good at.
func plain() []string {
	return strings.Fields("about agent agents also and any code each every file files for from have into more must only other project report should some task tasks that the their them then there these they this tool tools use used user users using what when where which will with work your")
}

// words are those of a text in small letters.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
