// Package skill puts the skill that drives this program where coding agents look for
// skills, and takes it away again, without touching what a person changed.
package skill
