package opencode

import "orchestrate/internal/runtime"

// The flags that a command may hold. A flag that this binary's help does not
// show is never used. The one that approves by itself is not among them.
const (
	flagJSON    = "--format=json"
	flagPure    = "--pure"
	flagDir     = "--dir"
	flagModel   = "--model"
	flagVariant = "--variant"
	flagAgent   = "--agent"
	flagSession = "--session"
)

func wantedFlags() []string {
	return []string{flagJSON, flagPure, flagDir, flagModel, flagVariant, flagAgent, flagSession}
}

// indispensable flags are those without which no job can be followed.
func indispensable() []string { return []string{flagJSON} }

// pure are the arguments that keep other people's plugins out.
func pure(p runtime.Profile) []string {
	if p.Shows(flagPure) {
		return []string{flagPure}
	}
	return nil
}

// heldKey is where the profile keeps that an agent is held to an access.
func heldKey(access runtime.Access, agent string) string {
	return "permission=" + string(access) + ":" + agent
}

// shellKey is where the profile keeps that a table can grant the shell.
const shellKey = "permission=shell"
