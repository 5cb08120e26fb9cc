package runtime

import "path/filepath"

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
	// Env are NAME=value entries that it needs in the sandbox, where the person's caches
	// are replaced by private ones.
	Env []string
	// Files are put into each attempt's private folder.
	Files []PrivateFile
}

// PrivateFile is a file, such as settings, that a program is given for the sandbox alone.
type PrivateFile struct {
	Name     string // of the file, without a folder
	Variable string // of the environment, which tells the program its path
	Text     string
}

// Confined is implemented by adapters whose program has files of its own outside the
// folder that it works in. getenv reads the environment that its jobs get.
type Confined interface {
	Confinement(getenv func(name string) string) Confinement
}

// Base is the folder that a variable names, or else its usual place in the person's
// home; "" where neither is known. A name that is not absolute would mean another
// folder for every job, so it counts as none.
func Base(getenv func(name string) string, variable, usual string) string {
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	home := getenv("HOME")
	if home == "" {
		home = getenv("USERPROFILE") // of Windows
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(usual))
}

// Below are paths in a folder; none where the folder is not known.
func Below(base string, names ...string) []string {
	if base == "" {
		return nil
	}
	var all []string
	for _, name := range names {
		all = append(all, filepath.Join(base, filepath.FromSlash(name)))
	}
	return all
}
