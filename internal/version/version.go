// Package version holds the version that both programs are built as.
package version

// Version is compared in the handshake between engine and supervisor.
const Version = "0.1.0"
