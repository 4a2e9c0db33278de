package lab

const slots = 36

type item struct {
	name  string
	count int
}

type bag struct {
	slots    [slots]item
	selected int
	offhand  item
	carried  item
}

func newBag(n int) bag {
	var b bag
	if n > 0 {
		b.slots[0] = item{planks, min(n, 64)}
	}
	return b
}

// Give puts a stack into a slot: 0–8 is the hotbar, -1 the offhand, -2 what the cursor
// carries. A count of 0 empties it.
func (g *Game) Give(slot int, name string, count int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	it := item{name, count}
	if count <= 0 {
		it = item{}
	}
	switch {
	case slot == -1:
		g.bag.offhand = it
	case slot == -2:
		g.bag.carried = it
	case slot >= 0 && slot < slots:
		g.bag.slots[slot] = it
	}
}

// Select chooses a slot of the hotbar.
func (g *Game) Select(slot int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slot >= 0 && slot < 9 {
		g.bag.selected = slot
	}
}

// Times of a place task, in ticks: the click lands after clickDelay, the task gives up
// after placeBound.
const (
	clickDelay = 4
	placeBound = 5 * 20
	eyeReach   = 4.5
)

// beginPlace starts the fixed five-second task. Conditions are looked at when the click
// lands and not before: there is no atomic check. g.mu is held.
func (g *Game) drivePlace(a *action) {
	switch after := g.tick - a.began; {
	case after == clickDelay && !a.noMove:
		g.click(a)
	case after > clickDelay:
		if a.moved || a.noMove {
			g.finish(`{"ok":true,"pos":` + cellText(a.block) + `}`)
		} else if g.tick >= a.until {
			g.finish(errorReply("timeout", "the target did not change"))
		}
	}
}

func (g *Game) click(a *action) {
	held := &g.bag.slots[g.bag.selected]
	c := a.block
	eye := vec{g.me.pos.x, g.me.pos.y + eyeHeight, g.me.pos.z}
	centre := vec{float64(c.x) + 0.5, float64(c.y) + 0.5, float64(c.z) + 0.5}
	beside := false
	for _, d := range [6]cell{{y: -1}, {y: 1}, {x: 1}, {x: -1}, {z: 1}, {z: -1}} {
		beside = beside || g.world.solid(c.add(d.x, d.y, d.z))
	}
	if held.count == 0 || g.world.solid(c) || !beside || eye.sub(centre).len() > eyeReach || g.inMe(c) {
		return
	}
	g.world.set(c, held.name)
	g.note(EffectPlace, a.line, g.tick-a.began, held.name)
	a.moved = true
	if g.opt.Link != nil {
		g.opt.Link.block(c, held.name)
	}
	if !g.opt.Creative {
		if held.count--; held.count == 0 {
			*held = item{}
		}
	}
	g.events.add("item", planks)
}

// inMe says whether the player's body is in the cell.
func (g *Game) inMe(c cell) bool {
	p := g.me.pos
	return p.x+halfWidth > float64(c.x) && p.x-halfWidth < float64(c.x+1) && p.z+halfWidth > float64(c.z) && p.z-halfWidth < float64(c.z+1) &&
		p.y+bodyTall > float64(c.y) && p.y < float64(c.y+1)
}
