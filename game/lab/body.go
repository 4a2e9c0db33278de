package lab

import "math"

type vec struct{ x, y, z float64 }

func (a vec) sub(b vec) vec      { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) len() float64       { return math.Sqrt(a.x*a.x + a.y*a.y + a.z*a.z) }
func (a vec) array() [3]float64  { return [3]float64{round3(a.x), round3(a.y), round3(a.z)} }
func (a vec) cell() cell         { return cell{floor(a.x), floor(a.y), floor(a.z)} }
func floor(v float64) int        { return int(math.Floor(v)) }
func round3(v float64) float64   { return math.Round(v*1000) / 1000 }
func (c cell) standing() vec     { return vec{float64(c.x) + 0.5, float64(c.y), float64(c.z) + 0.5} }
func (c cell) array() [3]float64 { return [3]float64{float64(c.x), float64(c.y), float64(c.z)} }

// Sizes and speeds of a body, a tick of 1/20 s.
const (
	halfWidth = 0.3
	bodyTall  = 1.8
	eyeHeight = 1.62
	walkSpeed = 4.317 / 20
	gravity   = 0.08
	drag      = 0.98
	jumpSpeed = 0.42
	fallSafe  = 3.0
	maxHealth = 20.0
)

type body struct {
	pos, vel   vec
	yaw, pitch float64
	health     float64
	onGround   bool
	fallFrom   float64
}

// step moves the body by one tick: the wanted horizontal motion, gravity, and what
// stands in the way. It returns the damage of a fall that ended.
func (b *body) step(w *world, want vec, jump bool) float64 {
	if b.onGround && jump {
		b.vel.y = jumpSpeed
		b.onGround = false
	}
	b.move(w, vec{x: want.x})
	b.move(w, vec{z: want.z})
	if b.onGround && b.rests(w) {
		return 0
	}
	b.fallFrom = math.Max(b.fallFrom, b.pos.y)
	b.onGround = false
	fell := b.move(w, vec{y: b.vel.y})
	damage := 0.0
	if !fell {
		if b.vel.y < 0 {
			b.onGround = true
			damage = math.Max(0, math.Floor(b.fallFrom-b.pos.y-fallSafe))
			b.fallFrom = b.pos.y
		}
		b.vel.y = 0
		return damage
	}
	b.vel.y = (b.vel.y - gravity) * drag
	return 0
}

// rests says whether something carries the body.
func (b *body) rests(w *world) bool {
	return hits(w, vec{b.pos.x, b.pos.y - 0.001, b.pos.z})
}

// move goes along one axis as far as it can. It says whether it got all the way.
func (b *body) move(w *world, d vec) bool {
	to := vec{b.pos.x + d.x, b.pos.y + d.y, b.pos.z + d.z}
	if !hits(w, to) {
		b.pos = to
		return true
	}
	switch {
	case d.y < 0: // come to rest on top of the block
		b.pos.y = math.Max(math.Floor(to.y)+1, math.Floor(b.pos.y))
	case d.y > 0:
		b.pos.y = math.Ceil(to.y+bodyTall) - 1 - bodyTall - 0.0001
	}
	return false
}

// hits says whether a body that stands at p would be inside a block.
func hits(w *world, p vec) bool {
	for x := floor(p.x - halfWidth); x <= floor(p.x+halfWidth); x++ {
		for z := floor(p.z - halfWidth); z <= floor(p.z+halfWidth); z++ {
			for y := floor(p.y); y <= floor(p.y+bodyTall); y++ {
				if w.solid(cell{x, y, z}) {
					return true
				}
			}
		}
	}
	return false
}

// lookAt turns the view from the eyes to a point, as the game counts angles: yaw 0 is
// south (+z), pitch grows downwards.
func (b *body) lookAt(p vec) {
	d := p.sub(vec{b.pos.x, b.pos.y + eyeHeight, b.pos.z})
	flat := math.Hypot(d.x, d.z)
	if flat > 1e-9 {
		b.yaw = round3(math.Atan2(-d.x, d.z) * 180 / math.Pi)
	}
	if flat > 1e-9 || math.Abs(d.y) > 1e-9 {
		b.pitch = round3(math.Atan2(-d.y, flat) * 180 / math.Pi)
	}
}
