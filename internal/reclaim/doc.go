// Package reclaim says what a workspace's runs have left, and what of that may go: only
// what was integrated or explicitly discarded. It decides and touches nothing; the
// engine looks, and removes.
package reclaim
