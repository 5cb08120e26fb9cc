// Package plugins holds what coding agents load to drive this program: the plugin, and
// in it the skill, which the program carries so that it can install it.
package plugins

import (
	"embed"
	"io/fs"
)

//go:embed orchestrate/skills/orchestrate
var files embed.FS

// Skill is the skill's folder.
func Skill() (fs.FS, error) { return fs.Sub(files, "orchestrate/skills/orchestrate") }
