// Package e2e holds the end-to-end tests: the built orchestrate runs the real
// coding agents that package-lock.json pins against a simulated model service,
// in a network namespace that has nothing but the loopback. They are built with
// the tag e2e and run by scripts/e2e.sh, which installs the agents.
package e2e
