// Package probe holds what every command-line adapter does when it asks an
// installed program about itself: find and identify it, put questions to it and
// keep the answers as evidence, find a flag in its help text together with the
// line that shows it, and cut JSON out of what it printed. It knows no program,
// flag or model by name.
package probe
