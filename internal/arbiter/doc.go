// Package arbiter decides what a run is worth. Layer 1 is the engine's own rules
// over what it saw itself (Layer1); layer 2 is an independent agent's answer: it
// gets the evidence (Evidence, Prompt), its answer is read strictly (Parse), what
// it cites is looked up (Verify), and one pure predicate (Judge) draws the
// conclusion. Nothing a job wrote can change a rule here: it is fenced data in
// the evidence and nowhere else.
package arbiter
