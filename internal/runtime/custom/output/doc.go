// Package output reads what a runtime prints that is described by data: plain text,
// or lines of which the last is a JSON object. It is linked by the lean supervisor,
// so it knows nothing of how such a description is written.
package output
