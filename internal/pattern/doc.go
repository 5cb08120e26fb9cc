// Package pattern decides what patterns of jobs ask: what the items of a list are, what a
// text is with an item filled in, whether votes agree, whether a search has run dry. It
// knows answers as text and nothing of jobs; everything here is pure.
package pattern
