// Package capture keeps what a child process says: bounded, redacted before it
// reaches the disk and valid UTF-8 (Writer), and framed into lines for a decoder
// (Lines). Nothing here starts a goroutine.
package capture
