package game

// Point names a place between admission and outcome. A crash there must leave records
// that say no more and no less than what happened; the ledger test crashes at each.
type Point string

// The points, in order.
const (
	PointAdmitted   Point = "admitted"    // the profile is good
	PointOwned      Point = "owned"       // the ownership record says that a session began
	PointOpened     Point = "opened"      // the binding holds
	PointBegun      Point = "begun"       // a command was taken
	PointChecked    Point = "checked"     // the policy allows it
	PointBeforeDisk Point = "before_disk" // before the attempt is recorded
	PointAttempt    Point = "attempt"     // the attempt is on disk
	PointFenced     Point = "fenced"      // the run is fenced
	PointConnected  Point = "connected"   // the action's own connection stands
	PointRechecked  Point = "rechecked"   // the binding was read again
	PointSent       Point = "sent"        // the bytes went
	PointAnswered   Point = "answered"    // the reply came
	PointStopping   Point = "stopping"    // before a stop is sent
	PointStopped    Point = "stopped"     // the stop boundary was observed
	PointObserved   Point = "observed"    // the fresh observation is there
	PointSettling   Point = "settling"    // before the outcome is in the ownership record
	PointSettled    Point = "settled"     // after that
	PointClosing    Point = "closing"     // before the ownership record says that the session ended
)

// Points lists all of them.
func Points() []Point {
	return []Point{PointAdmitted, PointOwned, PointOpened, PointBegun, PointChecked, PointBeforeDisk, PointAttempt, PointFenced, PointConnected,
		PointRechecked, PointSent, PointAnswered, PointStopping, PointStopped, PointObserved, PointSettling, PointSettled, PointClosing}
}
