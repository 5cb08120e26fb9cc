//go:build !unix

package history

// atOnce is for pipes that are files, which there are none of here.
const atOnce = 0
