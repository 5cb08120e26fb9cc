// Package planner turns a request in a person's words into a job spec: what counts as a
// request, what a planning agent is told, and what its answer amounts to. Everything here
// is pure.
package planner
