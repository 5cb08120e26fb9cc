// Package skill puts the skill that drives this program where coding agents look for
// skills, and takes it away again, without touching what a person changed.
//
// What it wrote it knows by digest, from a manifest that lies beside the files. Each file
// is replaced in one step, and the manifest names a file before the file is there: an
// installation that was cut off is completed, or removed, by the next. Everything goes
// through one opened folder, the place's base, out of which no symbolic link leads.
package skill
