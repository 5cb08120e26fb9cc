// Package acp runs one turn of an agent that speaks the Agent Client Protocol.
//
// The client is a process of its own, `orchestrate acp-turn`: it reads a Turn from
// standard input, starts the agent as its child and writes one JSON Line per thing
// that happened to standard output. So an agent behind the protocol is supervised,
// captured and ended like every other program, and what it said is read by a
// decoder. A probe is the same with a Turn that asks for no work: it opens a
// session, and the client reports what it was offered.
//
// This package is what both sides share, the lean supervisor among them: the Turn,
// the lines and their decoder. The client itself, with the protocol's library, is
// in the folder client; acptest has an agent for tests.
package acp
