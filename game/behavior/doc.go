// Package behavior lets a companion wait and follow: finite tasks of one run a tick, under one arbiter that also
// admits the operator's commands and the start of a capture.
//
// The arbiter is a value: events go in, decisions come out, and it knows no clock, no game and no goroutine. The
// Controller carries its decisions out. Nothing here asks a model for anything.
package behavior
