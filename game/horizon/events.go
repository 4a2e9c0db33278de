package horizon

// EventKind is a kind of event that we know. Events of other kinds are counted and dropped.
type EventKind uint8

const (
	EventScreen EventKind = iota + 1
	EventChat
	EventDeath
	EventRespawn
	EventItem
	EventDimension
	EventWorld
	EventUserInput
)

var eventNames = [...]string{EventScreen: "screen", EventChat: "chat", EventDeath: "death", EventRespawn: "respawn",
	EventItem: "item", EventDimension: "dimension", EventWorld: "world", EventUserInput: "user-input"}

func (k EventKind) valid() bool { return k >= EventScreen && int(k) < len(eventNames) }

func (k EventKind) String() string {
	if k.valid() {
		return eventNames[k]
	}
	return "unknown"
}

// Seen is one event: when and of which kind. What it says (chat, names, labels) is dropped.
type Seen struct {
	Seq  uint64
	Kind EventKind // 0 for a kind that we don't know
}

// EventList is what `events` lets through.
type EventList struct {
	Events []Seen
	Last   uint64
}

// MaxEvents is how many events a game keeps.
const MaxEvents = 256

// Events projects the reply to Events.
func (r Reply) Events() (EventList, error) {
	f := fields{m: r.members}
	out := EventList{Last: f.count("last")}
	items, err := array(f.m["events"], MaxEvents+1)
	if err != nil || len(items) > MaxEvents {
		f.fault("events", "a list of at most 256 events")
		return EventList{}, f.err
	}
	var prev uint64
	for _, it := range items {
		m, err := members(it)
		if err != nil {
			f.fault("events", "a list of objects")
			break
		}
		e := fields{m: m, path: "events."}
		s := Seen{Seq: e.count("seq")}
		name := e.str(keyKind, maxName)
		for k, n := range eventNames {
			if n == name && n != "" {
				s.Kind = EventKind(k)
			}
		}
		if e.err == nil && (s.Seq <= prev && prev > 0 || s.Seq > out.Last) {
			e.fault("seq", "a number that rises up to last")
		}
		prev = s.Seq
		f.take(&e)
		out.Events = append(out.Events, s)
	}
	return out, f.err
}
