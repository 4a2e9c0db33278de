// Package build carries out an approved plan of one or three blocks: each cell is one run with looks before and after,
// and what is not seen to be as planned ends the plan.
//
// A plan is frozen bytes with a digest. It names cells, not ways: it grants no walking, no choice of a tool, no
// command of the server, and no material but the one.
package build
