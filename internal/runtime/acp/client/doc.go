// Package client is the process that stands between an agent of the Agent Client
// Protocol and the rest of this program: it starts the agent as its child, has one
// turn with it and tells what happened in lines (package acp).
//
// It offers the agent nothing: no files, no terminal. What the agent asks
// permission for is answered by the turn's rule (rule.go), once and never for
// good. Settings are only made to values that the agent itself has listed.
//
// The agent is held to nothing by this: it may do without asking what it likes.
// Which modes make it ask is for whoever writes the Turn to know.
//
// The protocol's library carries messages and names them. What an agent sends is
// read by types of our own (wire.go) that put up with what they do not know: the
// library would refuse a whole session for one option of a new kind.
package client
