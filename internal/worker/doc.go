// Package worker is the worker form on the disk: a manifest or a single prompt becomes the
// spec of a run, and what came of each task is laid out as the form promises. It starts
// nothing.
package worker
