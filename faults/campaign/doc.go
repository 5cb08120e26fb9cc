// Package campaign kills runs and looks at what becomes of them. A round makes a
// scratch workspace, starts a run in it, kills the engine, a supervisor, both or the
// whole tree at a named failpoint or at some other moment, resumes the run until it
// ends, and then holds against it what must be true of every run: no success lost,
// nothing done twice, no process left, no torn file, and the report of a run that
// nobody disturbed.
package campaign
