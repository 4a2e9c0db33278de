package lab

import "strconv"

func stackValue(it item) any {
	if it.count == 0 {
		return nil
	}
	return object{"item": it.name, "count": it.count}
}

func (g *Game) inputValue() object {
	o := object{
		"last_origin":      nil,
		"counts":           object{"user": g.input.counts["user"], "agent": g.input.counts["agent"], "game": g.input.counts["game"]},
		"user_since_agent": g.input.since,
		"last_user_age_s":  nil,
	}
	if g.input.origin != "" {
		o["last_origin"] = g.input.origin
	}
	if g.input.userSeen {
		o["last_user_age_s"] = float64(g.tick-g.input.userTick) / 20
	}
	return o
}

func (g *Game) stateReply() object {
	act := any(nil)
	if g.act != nil {
		act = g.act.kind
	}
	up := g.opt.Link == nil || g.opt.Link.Up()
	o := object{
		"world": g.label, "dimension": g.dim, "loaded": up, "joined": up, "name": g.opt.Name,
		"pos": g.me.pos.array(), "yaw": g.me.yaw, "pitch": g.me.pitch, "health": g.me.health,
		"held": stackValue(g.bag.slots[g.bag.selected]), "selected": g.bag.selected, "action": act, "input": g.inputValue(),
	}
	g.private(o)
	return o
}

func (g *Game) statusReply() object {
	o := object{
		"screen": g.screen, "dimension": g.dim, "creative": g.opt.Creative, "frame": g.tick, "tick": g.tick, "chunks": (2*g.opt.Chunks + 1) * (2*g.opt.Chunks + 1),
		"fps": 20.0, "frame_ms": 50.0, "renderer": object{"name": "headless", "memory": 0}, "input": g.inputValue(),
		"clipboard": "", "debug": "", "keyboard": []string{}, "name_tags": []string{}, "sidebar": "",
	}
	if g.opt.Link != nil {
		o["server"] = object{"address": g.opt.Link.Address(), "name": "lab server", "joined": g.opt.Link.Up(), "loaded": g.opt.Link.Up()}
	}
	g.private(o)
	return o
}

// private fills the places that hold a person's own data in a real client.
func (g *Game) private(o object) {
	if g.opt.Private == "" {
		return
	}
	for _, k := range [...]string{"clipboard", "debug", "sidebar", "chat", "x_" + g.opt.Private} {
		o[k] = g.opt.Private
	}
	o["keyboard"] = []string{g.opt.Private}
	o["name_tags"] = []object{{"name": g.opt.Private}}
}

func (g *Game) inventoryReply() string {
	list := []object{}
	for i, it := range g.bag.slots {
		if it.count > 0 {
			list = append(list, object{"slot": i, "item": it.name, "count": it.count})
		}
	}
	return object{"slots": list, "selected": g.bag.selected, "offhand": stackValue(g.bag.offhand), "carried": stackValue(g.bag.carried)}.text()
}

// blockReply knows chunks and not height, as the real game does: a cell above or below
// the world is "loaded" air.
func (g *Game) blockReply(args []string) string {
	v, ok := numbers(args, 3)
	if !ok {
		return errorReply("usage", "use: block X Y Z")
	}
	c := vec{v[0], v[1], v[2]}.cell()
	if !g.loaded(c) {
		return object{"pos": c.array(), "block": nil, "state": object{}, "loaded": false}.text()
	}
	return object{"pos": c.array(), "block": g.world.at(c), "state": object{}, "loaded": true}.text()
}

func since(flags map[string]string) uint64 {
	v, _ := strconv.ParseUint(flags["--since"], 10, 64)
	return v
}

func (g *Game) eventsReply(flags map[string]string) string {
	from, list := since(flags), []object{}
	for _, e := range g.events.list {
		if e.seq > from {
			list = append(list, object{"seq": e.seq, "kind": e.kind, "text": e.text})
		}
	}
	return object{"events": list, "last": g.events.last}.text()
}

func (g *Game) inputReply(flags map[string]string) string {
	from, list := since(flags), []object{}
	limit, err := strconv.Atoi(flags["--limit"])
	if err != nil || limit <= 0 {
		limit = keptInputs
	}
	for _, e := range g.input.list {
		if origin := flags["--origin"]; e.seq > from && (origin == "" || origin == e.origin) {
			list = append(list, object{"seq": e.seq, "tick": e.tick, "origin": e.origin, "event": e.what})
		}
	}
	if len(list) > limit {
		list = list[len(list)-limit:]
	}
	return object{"events": list, "last": g.input.last}.text()
}
