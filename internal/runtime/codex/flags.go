package codex

import (
	"slices"
	"strings"

	"orchestrate/internal/runtime"
)

// The flags that a command may hold. A flag that this binary's help does not
// show is never used.
const (
	flagJSON      = "--json"
	flagReadOnly  = "--sandbox=read-only"
	flagWorkspace = "--sandbox=workspace-write"
	flagConfig    = "--config"
	flagDisable   = "--disable"
	flagNoGit     = "--skip-git-repo-check"
	flagDir       = "--cd"
	flagModel     = "--model"
	flagSchema    = "--output-schema"
)

// wordResume is the subcommand of exec that goes on with a session.
const wordResume = "resume"

func wantedFlags() []string {
	return []string{flagJSON, flagReadOnly, flagWorkspace, flagConfig, flagDisable, flagNoGit, flagDir, flagModel, flagSchema}
}

// indispensable flags are those without which no job can run, be followed or be
// told what it may not load.
func indispensable() []string { return []string{flagJSON, flagReadOnly, flagConfig} }

// unwanted are the features that load other people's code, run the project's
// hooks or fetch plugins at start. Each is switched off only where this binary's
// own feature list names it.
func unwanted() []string { return []string{"apps", "hooks", "plugins", "remote_plugin"} }

// featureKey is how a feature of the list is kept among the profile's flags.
func featureKey(name string) string { return flagDisable + "=" + name }

// serverKey is how a tool server of the user's configuration is kept there.
func serverKey(name string) string { return flagConfig + "=mcp_servers." + name }

// quietArgs switch off analytics and the unwanted features; probes and jobs get
// the same, so that what the probe saw is what the job gets.
func quietArgs(p runtime.Profile) []string {
	var args []string
	if p.Shows(flagConfig) {
		args = append(args, "-c", "analytics.enabled=false")
	}
	for _, name := range unwanted() {
		if p.Shows(flagDisable) && p.Shows(featureKey(name)) {
			args = append(args, flagDisable, name)
		}
	}
	return args
}

// serverArgs switch off the tool servers that the configuration names.
func serverArgs(p runtime.Profile) []string {
	var names []string
	for key := range p.Flags {
		if name, ok := strings.CutPrefix(key, serverKey("")); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var args []string
	for _, name := range names {
		args = append(args, "-c", "mcp_servers."+name+".enabled=false")
	}
	return args
}

// boundaryArgs narrow the writable sandbox to the working folder and one for temporary
// files and caches, "" = none: without them the temp folders and whatever the user's
// configuration adds are open too.
func boundaryArgs(private string) []string {
	roots := ""
	if private != "" {
		roots = quoted(private)
	}
	return []string{
		"-c", "sandbox_workspace_write.writable_roots=[" + roots + "]",
		"-c", "sandbox_workspace_write.network_access=false",
		"-c", "sandbox_workspace_write.exclude_slash_tmp=true",
		"-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true",
	}
}
