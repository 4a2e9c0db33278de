package game

import (
	"math"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
)

// Order is one physical action on its way through admission. The constructors make the
// only values; other packages of the game build their ticks and cells from them.
type Order struct {
	score   Score
	action  Action
	request horizon.Request
	command string // canonical, without what is said
	secret  bool   // the line must not be written down
	target  *[3]grammar.Coord
	long    bool // answered when the action ends, and waited for as long as the policy allows
	within  time.Duration
	guard   func(View) error
	sight   *View // what admission goes by instead of a look of its own
	proved  bool  // the caller looks afterwards
}

// WalkOrder walks to a place. within bounds the game's own timeout; 0 is the policy's.
func WalkOrder(score Score, x, y, z grammar.Coord, within time.Duration) Order {
	return Order{score: score, action: ActGoTo, command: grammar.GoTo{X: x, Y: y, Z: z}.String(), target: &[3]grammar.Coord{x, y, z},
		request: horizon.GoTo{X: centi(x), Y: centi(y), Z: centi(z)}, long: true, within: within}
}

// FollowOrder is WalkOrder under the permission to follow.
func FollowOrder(x, y, z grammar.Coord, within time.Duration) Order {
	o := WalkOrder(ScoreFollow, x, y, z, within)
	o.action = ActFollow
	return o
}

// PlaceOrder puts the selected block into a cell.
func PlaceOrder(x, y, z int32) Order {
	at := [3]grammar.Coord{grammar.Blocks(int(x)), grammar.Blocks(int(y)), grammar.Blocks(int(z))}
	return Order{score: ScoreBuild, action: ActPlace, command: "place " + at[0].String() + " " + at[1].String() + " " + at[2].String(), target: &at,
		request: horizon.Place{X: x, Y: y, Z: z}, long: true, within: placeTask}
}

// placeTask is the game's fixed time for a placement.
const placeTask = 5 * time.Second

// Guarded adds a check that is made on the last view before the bytes go: freshness and
// generation of whatever the order was derived from. Its error becomes a refusal.
func (o Order) Guarded(check func(View) error) Order {
	o.guard = check
	return o
}

func lookOrder(c grammar.LookAt) Order {
	return Order{score: ScoreAssist, action: ActLookAt, command: c.String(), target: &[3]grammar.Coord{c.X, c.Y, c.Z},
		request: horizon.LookAt{X: centi(c.X), Y: centi(c.Y), Z: centi(c.Z)}}
}

func sayOrder(c grammar.Say) Order {
	return Order{score: ScoreAssist, action: ActSay, command: grammar.KindSay.String(), request: horizon.Chat{Text: c.Text}, secret: true}
}

// permit is the part of the policy that needs no look at the game.
func (p Policy) permit(o Order, now time.Time, used int) error {
	switch {
	case !now.Before(p.Expires):
		return refuse(Expired, "the game profile has expired")
	case !p.Permits(o.action):
		return refuse(NotPermitted, "the policy doesn't permit %s", o.action)
	case used >= p.MaxActions:
		return refuse(Budget, "the session's %d actions are used up", p.MaxActions)
	case o.target == nil:
		return nil
	}
	for i, v := range o.target {
		if v < p.Min[i] || v > p.Max[i] {
			return refuse(OutOfBounds, "%s lies outside the permitted space", o.command)
		}
	}
	return nil
}

// reach is the part that needs to know where the companion stands.
func (p Policy) reach(o Order, at [3]float64) error {
	if o.target == nil {
		return nil
	}
	if d := horizon.Distance(at, o.place()); d > p.MaxDistance || math.IsNaN(d) {
		return refuse(TooFar, "%s is %.1f blocks away, at most %g are permitted", o.command, d, p.MaxDistance)
	}
	return nil
}

func (o Order) place() [3]float64 {
	return [3]float64{o.target[0].Float(), o.target[1].Float(), o.target[2].Float()}
}

// timeout is how long the game may take for the action, by the policy.
func (o Order) timeout(p Policy) time.Duration {
	d := time.Duration(p.ActionSeconds * float64(time.Second))
	if o.within > 0 && o.within < d {
		return o.within
	}
	return d
}

// render writes the line, with the game's own timeout where the word has one.
func (o Order) render(p Policy) (horizon.Line, error) {
	r := o.request
	if g, ok := r.(horizon.GoTo); ok {
		g.Timeout = o.timeout(p)
		r = g
	}
	return horizon.Render(r)
}
