package lab

// How many events and inputs a game keeps.
const (
	keptEvents = 256
	keptInputs = 512
)

type event struct {
	seq  uint64
	kind string
	text string
}

type ring struct {
	last uint64
	list []event
}

func (r *ring) add(kind, text string) {
	r.last++
	r.list = append(r.list, event{r.last, kind, text})
	if len(r.list) > keptEvents {
		r.list = append(r.list[:0], r.list[1:]...)
	}
}

func (r *ring) has(kind, text string, since uint64) bool {
	for _, e := range r.list {
		if e.seq > since && e.kind == kind && (text == "" || e.text == text) {
			return true
		}
	}
	return false
}

type inputEvent struct {
	seq    uint64
	tick   int64
	origin string
	what   string
}

// inputs is the provenance of everything that reached the game's input.
type inputs struct {
	last     uint64
	list     []inputEvent
	origin   string
	counts   map[string]uint64
	userTick int64
	userSeen bool
	since    bool // a person's input came after the agent's last
}

func (in *inputs) add(tick int64, origin, what string) {
	if in.counts == nil {
		in.counts = map[string]uint64{}
	}
	in.last++
	in.counts[origin]++
	in.origin = origin
	switch origin {
	case "user":
		in.userTick, in.userSeen, in.since = tick, true, true
	case "agent":
		in.since = false
	}
	in.list = append(in.list, inputEvent{in.last, tick, origin, what})
	if len(in.list) > keptInputs {
		in.list = append(in.list[:0], in.list[1:]...)
	}
}

// waiter is a wait-for that has not ended.
type waiter struct {
	holds  func() bool
	until  int64
	answer chan string
}

// wake answers the waits whose condition holds or whose time is over. g.mu is held.
func (g *Game) wake() {
	kept := g.waits[:0]
	for _, w := range g.waits {
		switch {
		case w.holds():
			w.answer <- `{"ok":true}`
		case g.tick >= w.until:
			w.answer <- errorReply("timeout", "it did not happen in time")
		default:
			kept = append(kept, w)
		}
	}
	g.waits = kept
}
