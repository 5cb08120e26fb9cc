package runtime

// Confinement is what a program needs of its surroundings to work in the engine's own
// sandbox. Paths are absolute; what is not there is made (folders) or left out (files).
type Confinement struct {
	// Own says that the program holds what it runs by a sandbox of its own, which does
	// not work inside another.
	Own bool
	// State are folders and files that the program itself writes: its sessions, logs
	// and settings.
	State []string
	// Credentials are files and folders with its sign-in. Only its own processes may
	// read them. They may lie in State.
	Credentials []string
}

// Confined is implemented by adapters whose program has files of its own outside the
// folder that it works in. getenv reads the environment that its jobs get.
type Confined interface {
	Confinement(getenv func(name string) string) Confinement
}
