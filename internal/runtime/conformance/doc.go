// Package conformance holds what every adapter of a coding agent must keep to,
// whatever its program is like. The tests of an adapter describe a machine on which
// the program works, as recorded, and the suite bends that machine: the program is
// missing, is somebody else's, hangs, babbles, has lost one flag, is signed out. It
// builds commands for every kind of request, and it tears, cuts and dirties recorded
// streams.
//
// What is particular to one program (which state exactly, which words, which class
// of failure) stays in the adapter's own tests; see probetest for those.
package conformance
