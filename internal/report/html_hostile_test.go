package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orchestrate/internal/ledger"
	"orchestrate/internal/untrusted"
)

// More of what tries to be more than text, where a browser reads it.
var hostileMarkup = append([]string{
	"</pre><script>alert(1)</script>", "</style><script>x</script>", "]]>", "--><img src=x onerror=alert(1)>", `" onmouseover="alert(1)`, "' autofocus onfocus='x",
	"javascript:alert(1)", "data:text/html,<b>", "<svg onload=x>", "<base href=//x>", "&lt;b&gt;&#60;", "<details open ontoggle=x>", "\x00", "\x1b[31m", "{{.RunID}}", "//evil.example/x", "../../../etc/passwd", "\u202e", "\ufeff",
}, hostile...)

// element is one of a page, as a browser without mercy would read it.
type element struct {
	Name  string
	Attrs map[string]string
}

// elements reads a page strictly: what is not our own markup is an error.
func elements(page []byte) (all []element, err error) {
	d := xml.NewDecoder(strings.NewReader(string(page)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			e := element{t.Name.Local, map[string]string{}}
			for _, a := range t.Attr {
				e.Attrs[a.Name.Local] = a.Value
			}
			all = append(all, e)
		case xml.Comment, xml.ProcInst:
			return all, fmt.Errorf("a comment or instruction: %v", t)
		}
	}
}

var (
	ownElements = strings.Fields("html head meta title style body a header p span b nav main section div h1 h2 h3 ul ol li dl dt dd code strong table caption thead tbody tr th td pre details summary article ins del i s footer figure figcaption svg g rect path text tspan desc line circle polygon polyline defs marker use symbol")
	ownHref     = func(href string) bool { return strings.HasPrefix(href, "#") || strings.HasPrefix(href, "./") }
)

// broken says what in a page is not as we write pages; "" = nothing.
func broken(page []byte) string {
	all, err := elements(page)
	if err != nil {
		return err.Error()
	}
	ids := map[string]bool{}
	for _, e := range all {
		id := e.Attrs["id"]
		switch {
		case !slices.Contains(ownElements, e.Name):
			return "an element <" + e.Name + ">"
		case id != "" && ids[id]:
			return "the id " + id + " twice"
		}
		ids[id] = true
		for name, value := range e.Attrs {
			if strings.HasPrefix(name, "on") || name == "src" || name == "srcdoc" || name == "style" {
				return fmt.Sprintf("an attribute %s=%q", name, value)
			}
			if name == "href" && !ownHref(value) {
				return fmt.Sprintf("a link to %q", value)
			}
		}
	}
	for _, e := range all {
		if href, inside := strings.CutPrefix(e.Attrs["href"], "#"); inside && !ids[href] && !ids[unescaped(href)] {
			return "a link to #" + href + ", which is not there"
		}
	}
	for _, c := range string(page) {
		if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Co)) {
			return fmt.Sprintf("U+%04X", c)
		}
	}
	return ""
}

func TestForeignTextIsInertInThePage(t *testing.T) {
	for _, text := range hostileMarkup {
		if what := broken(pageWith(t, text)); what != "" {
			t.Errorf("%q made %s", text, what)
		}
	}
}

func TestForeignTextAddsNoElement(t *testing.T) {
	plain := names(t, pageWith(t, "x"))
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hostileMarkup), rapid.String()), 1, 4).Draw(rt, "text"), " ")
		page := pageWith(rt, "x"+text)
		if what := broken(page); what != "" {
			rt.Fatalf("it made %s", what)
		}
		if diff := cmp.Diff(plain, names(rt, page)); diff != "" {
			rt.Fatalf("the document's shape changed:\n%s", diff)
		}
	})
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func names(t fataler, page []byte) (all []string) {
	t.Helper()
	found, err := elements(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		lines := e.Name == "span" && len(e.Attrs) == 0                                                        // of a patch, that are neither added nor deleted
		if !lines && !slices.Contains([]string{"ins", "del", "i", "tspan", "text", "rect", "path"}, e.Name) { // a patch's lines, a picture's words
			all = append(all, e.Name)
		}
	}
	return all
}

// pageWith puts a text wherever an agent, a tool or a file could.
func pageWith(t fataler, text string) []byte {
	t.Helper()
	in, files := pageSample()
	in.Notes, in.Checkout, in.Suggestions = []string{text}, []string{text}, []string{text}
	for id, s := range in.Jobs {
		s.Model, s.Agent, s.ReasonEvidence, s.FallbackReason, s.Runtime = text, text, untrusted.From(text), text, text
		for i := range s.Checks {
			s.Checks[i].Name, s.Checks[i].Command = text, text
		}
		for i := range s.Artifacts {
			s.Artifacts[i].Path = text
		}
		if s.Route != nil {
			s.Route = &ledger.Route{Why: text, Runtime: text, Risk: text, RiskWhy: text, Controls: []string{text}, Candidates: []ledger.Candidate{{Runtime: text, Reasons: []string{text}}}}
		}
		in.Jobs[id] = s
	}
	in.NextSteps["audit"], in.Commands["test"] = text, "echo "+text
	in.Sessions = map[string]Session{"write": {Attempt: text, By: text, TakenAt: &day, Until: &day}}
	j := *in.Judgement
	j.Why = []string{text}
	j.Contradictions, j.SafetyGaps, j.UnsupportedClaims, j.UnresolvedQuestions = said(text), said(text), said(text), said(text)
	j.Jobs = []ledger.JobVerdict{{Job: text, Verdict: "pass", Why: untrusted.From(text), Citations: []ledger.Citation{{Kind: "file", Ref: text, Found: true}, {Kind: "artifact", Ref: "write:" + text, Found: true}}, Assertions: []ledger.Assertion{{Name: text, Holds: "no", Why: untrusted.From(text)}}}}
	j.Questions = []ledger.Answer{{N: 1, Question: text, Answer: text, Why: untrusted.From(text)}}
	j.Findings = []ledger.Finding{{Rule: "r", Job: text, Detail: text, Evidence: []string{text}}}
	j.ChangedJudges = []ledger.ChangedJudge{{Job: "write", Paths: []string{text}}}
	in.Judgement = &j
	for name := range files {
		files[name] += text
	}
	files[ledger.JobPath("write", ledger.ArtifactsDir, text)] = text
	page, err := Build(in).HTML(files)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func said(text string) []untrusted.Text { return []untrusted.Text{untrusted.From(text)} }
