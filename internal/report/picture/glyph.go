package picture

import (
	"fmt"
	"strings"
)

// shapes tell the states apart without colour: an outline and a sign in it, on a field
// of 16 by 16 around the origin.
var shapes = map[string]string{
	"success":     `<circle r="7"/><path class="sign" d="M-3.5 .3-1 2.8 3.6-2.6"/>`,
	"failed":      `<path d="M-3-7h6l4 4v6l-4 4h-6l-4-4v-6z"/><path class="sign" d="M-2.8-2.8 2.8 2.8M2.8-2.8-2.8 2.8"/>`,
	"blocked":     `<path d="M0-8 8 0 0 8-8 0z"/><path class="sign" d="M-3.2 0h6.4"/>`,
	"interrupted": `<rect x="-7" y="-7" width="14" height="14" rx="2"/><path class="sign" d="M-2.2-3v6M2.2-3v6"/>`,
	"running":     `<circle r="7"/><path class="sign" d="M-2-3.5 3.5 0-2 3.5z"/>`,
	"awaiting":    `<path d="M0-7.5 8 6.5H-8z"/><path class="sign" d="M0-2.5v4.2M0 4.1v.4"/>`,
	"queued":      `<circle class="open" r="6"/>`,
	"":            `<circle class="open" r="6"/><path class="sign" d="M0-2.5v2.8M0 2.6v.4"/>`,
}

// states are the words of the legend, in its order.
var states = []string{"success", "failed", "blocked", "interrupted", "running", "awaiting", "queued"}

func shape(status string) string {
	if s, known := shapes[status]; known {
		return s
	}
	return shapes[""]
}

// glyph is a state's sign at a place.
func glyph(status string, x, y int) string {
	return fmt.Sprintf(`<g class="glyph s-%s" transform="translate(%d %d)" aria-hidden="true">%s</g>`, word(status), x, y, shape(status))
}

// legend names the signs that are in a picture, and how many of each.
func legend(count map[string]int, more string) string {
	var b strings.Builder
	b.WriteString(`<figcaption class="picture-legend">`)
	for _, s := range states {
		if count[s] > 0 {
			fmt.Fprintf(&b, `<span><svg width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true">%s</svg> %d %s</span>`,
				glyph(s, 0, 0), count[s], s)
		}
	}
	b.WriteString(more)
	b.WriteString("</figcaption>")
	return b.String()
}

// sum is the legend for those who listen.
func sum(count map[string]int) string {
	var parts []string
	for _, s := range states {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

// frame puts a drawing into its figure. label says what it is, desc what it shows.
func frame(class, label, desc string, w, h int, drawing, legend string) string {
	return fmt.Sprintf(`<figure class="picture %s"><div class="picture-scroll" role="region" tabindex="0" aria-label="%s">`+
		`<svg role="group" aria-label="%s" width="%d" height="%d" viewBox="0 0 %d %d" xmlns="http://www.w3.org/2000/svg"><desc>%s</desc>%s</svg></div>%s</figure>`,
		class, label, label, w, h, w, h, desc, drawing, legend)
}
