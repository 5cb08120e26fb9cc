// Package schemas holds the published JSON Schemas of every file that a run
// leaves, so that documentation and tests use one copy.
package schemas

import "embed"

// Files has every *.schema.json of this folder, under its plain name.
//
//go:embed *.schema.json
var Files embed.FS

// Manifest is manifest.schema.json, which manifests are checked against.
//
//go:embed manifest.schema.json
var Manifest []byte
