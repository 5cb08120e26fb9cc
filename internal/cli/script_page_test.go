//go:build linux

package cli_test

import (
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	pageIDs   = regexp.MustCompile(` id="([^"]*)"`)
	pageHrefs = regexp.MustCompile(` href="([^"]*)"`)
	// pageTags are all that may begin a tag of the page.
	pageTag  = regexp.MustCompile(`<(/?)([a-zA-Z!?][^\s>]*)`)
	pageTags = strings.Fields("!DOCTYPE html head meta title style body a header p span b nav main section div h1 h2 h3 ul ol li dl dt dd code strong table caption thead tbody tr th td pre details summary article ins del i s footer figure figcaption svg g rect path text tspan title desc line circle polygon polyline defs marker use symbol")
)

// page demands of the last run's report.html that each of its links leads somewhere: to
// a place in it, or to a file of the run directory; that it has no element but ours; and
// that nothing in it acts: `page`.
func page(ts *testscript.TestScript, _ bool, args []string) {
	need(ts, args, 0, 0, "page")
	name := filepath.Join(ts.Getenv("RUN"), "report.html")
	text := ts.ReadFile(name)
	inert(ts, false, []string{name})
	ids := map[string]bool{}
	for _, m := range pageIDs.FindAllStringSubmatch(text, -1) {
		if id := html.UnescapeString(m[1]); ids[id] {
			ts.Fatalf("%s: the id %s is there twice", name, id)
		} else {
			ids[id] = true
		}
	}
	for _, m := range pageTag.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(pageTags, m[2]) {
			ts.Fatalf("%s: a tag <%s", name, m[2])
		}
	}
	for _, m := range pageHrefs.FindAllStringSubmatch(text, -1) {
		leads(ts, ids, html.UnescapeString(m[1]))
	}
}

// leads demands that a link does.
func leads(ts *testscript.TestScript, ids map[string]bool, href string) {
	u, err := url.Parse(href)
	ts.Check(err)
	if u.Scheme != "" || u.Host != "" || u.RawQuery != "" || strings.HasPrefix(href, "/") {
		ts.Fatalf("a link out of the run directory: %s", href)
	}
	if u.Path == "" {
		if !ids[u.Fragment] {
			ts.Fatalf("a link to no place in the page: %s", href)
		}
		return
	}
	if u.Fragment != "" || !filepath.IsLocal(u.Path) {
		ts.Fatalf("a link to elsewhere: %s", href)
	}
	_, err = os.Stat(filepath.Join(ts.Getenv("RUN"), u.Path))
	ts.Check(err)
}
