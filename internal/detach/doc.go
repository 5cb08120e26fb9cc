// Package detach starts the program that carries on a run as a process of its own:
// in a session of its own, child of nobody who asked for it, with none of their
// descriptors. Whoever started it watches through two pipes and a control socket,
// and may go at any time; see Start (the viewer), Launch (the step between) and
// Serve (the engine).
package detach

import "orchestrate/internal/process"

// Message is what one side tells the other over the control socket, one JSON object
// per line. One field is set.
type Message struct {
	Engine    *process.Identity `json:"engine,omitempty"`    // the engine is there: its first message
	Begun     *Begun            `json:"begun,omitempty"`     // the run directory is there
	Ended     *Ended            `json:"ended,omitempty"`     // the engine's last message
	Question  *Question         `json:"question,omitempty"`  // the engine wants to know something of the person
	Interrupt bool              `json:"interrupt,omitempty"` // from the viewer: the person interrupts
	Answer    *Answer           `json:"answer,omitempty"`    // from the viewer: to the question of that number
}

// Question is put to the person who started the engine: the engine has no terminal.
type Question struct {
	N     int    `json:"n"`     // from 1
	Text  string `json:"text"`  // lines that are safe to show
	After int64  `json:"after"` // how many bytes of the engine's standard error come first
}

// Answer is what came of a question. The zero Answer says that nobody could be asked.
type Answer struct {
	N     int  `json:"n"`
	Asked bool `json:"asked"` // there is a terminal, and the question was shown there
	Yes   bool `json:"yes"`
	// By is how they were asked where that was not at a terminal, see engine.Answer.
	By string `json:"by,omitempty"`
}

// Begun says where the run is.
type Begun struct {
	RunID string `json:"runId"`
	Dir   string `json:"dir"`
}

// Ended is the exit status with which the engine ends.
type Ended struct {
	Status int `json:"status"`
}
