//go:build !race

package grammar

// raceEnabled makes the exhaustive tests smaller: the race detector finds nothing in them, and slows
// them by ten. Every number and every variation on its own stay; the products of variations go.
const raceEnabled = false
