// Package runtime holds the nouns that every room of the pipeline shares about
// things that can take a job: what one is (Adapter), what was learned about one
// by asking it (Profile), what it says while it works (Event) and how an attempt
// ended (Outcome, Reason). One folder below this one per adapter.
//
// The package is imported by the lean supervisor: it stays on the standard
// library and does nothing at init.
package runtime
