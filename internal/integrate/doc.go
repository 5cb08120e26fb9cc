// Package integrate says what can be merged of a run's work, in which order, and what
// stands against it. It decides and touches nothing: git's answers come from workspace,
// the engine carries out what was decided here.
package integrate
