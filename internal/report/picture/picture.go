// Package picture draws a run as inline SVG: the graph of its jobs by a layout of its
// own, and when each of them waited and worked. It decides nothing and touches nothing:
// the same input gives the same bytes. Colours come from the page's style sheet by the
// classes that are named here; text from jobs is escaped and made inert.
//
// Each picture is as wide as it has to be, at most Width, and then grows downwards: it
// is shown at its own size, so that its text never becomes smaller than it is here.
package picture

import (
	_ "embed"
	"html/template"
	"time"
)

// Width is the most that a picture takes, in CSS pixels.
const Width = 1120

// Node is one box of the graph.
type Node struct {
	ID     string   // the job's id, also its label
	Status string   // a ledger status: becomes the class "s-<status>"
	Detail string   // one short line below the id: runtime and model, time; "" = none
	Href   string   // fragment that the box links to, such as #job-scout
	After  []string // ids of nodes that it depends on
	OnPath bool     // on the critical path
}

// Row is one line of the timeline: a job.
type Row struct {
	ID     string
	Href   string
	OnPath bool
	Spans  []Span // in order
}

// Span is a part of a row's time.
type Span struct {
	From, To time.Time // no From: not drawn; no To: it goes on
	Class    string    // queued | running | an attempt's status: becomes the class "t-<class>"
	Title    string    // what a pointer or a screen reader is told
}

//go:embed picture.css
var style string

// Style is the style sheet of both pictures, for light and dark. Its colours are
// properties that a page may set itself.
func Style() template.CSS { return template.CSS(style) }

// Graph draws nodes in rows, dependencies above what depends on them: a layer is a row
// or, where one is too wide, chains are kept together instead. Unknown ids in After are
// ignored.
func Graph(nodes []Node) template.HTML {
	if len(nodes) == 0 {
		return ""
	}
	return drawGraph(nodes, lay(nodes))
}

// Timeline draws rows between from and to; where these hold no time, as long as the
// spans are.
func Timeline(rows []Row, from, to time.Time) template.HTML {
	if len(rows) == 0 {
		return ""
	}
	return drawTimeline(rows, extent(rows, from, to))
}
