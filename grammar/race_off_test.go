//go:build !race

package grammar

// raceEnabled makes the exhaustive tests smaller: the race detector finds nothing in them, and slows
// them by ten. Every number stays, below a thousand with every variation on its own; the rest runs without it.
const raceEnabled = false
