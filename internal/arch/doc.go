// Package arch holds nothing that runs: its test keeps the arrows between the
// packages one-way, as ARCHITECTURE.md draws them.
package arch
