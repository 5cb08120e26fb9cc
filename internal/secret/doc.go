// Package secret finds secrets in text and replaces them before the text reaches
// a disk. It knows exact values (from the environment and from .env files) in
// their raw, JSON-escaped, URL-encoded and base64 forms, and the shapes of
// well-known credentials.
//
// It is meant for streams: one pass over a table of three-byte windows finds the
// literals that a secret can start with, and a small matcher anchored there
// decides. It depends on the standard library alone; the slower and more
// thorough detector for intake is in the package detect.
package secret
