package horizon

import (
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// Longest texts of the projection, in bytes.
const (
	maxName  = 64
	maxLabel = 256
)

// HelloInfo says who answers.
type HelloInfo struct {
	Game     string   `json:"game"`
	Version  string   `json:"version"`
	Protocol []string `json:"protocol"`
}

// Stack is an item stack. The zero value is "empty".
type Stack struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
	// Special: the stack carries damage or components, so that it is no ordinary one of its kind.
	Special bool `json:"special,omitempty"`
}

// Input is the provenance section.
type Input struct {
	LastOrigin     string  `json:"last_origin"`
	User           uint64  `json:"user"`
	Agent          uint64  `json:"agent"`
	Game           uint64  `json:"game"`
	UserSinceAgent bool    `json:"user_since_agent"`
	LastUserAge    float64 `json:"last_user_age_s,omitempty"`
	UserSeen       bool    `json:"user_seen"`
}

// PlayerState is what `state` lets through.
type PlayerState struct {
	World     string     `json:"world"`
	Dimension string     `json:"dimension"`
	Loaded    bool       `json:"loaded"`
	Joined    bool       `json:"joined"`
	Name      string     `json:"name"`
	Pos       [3]float64 `json:"pos"`
	Yaw       float64    `json:"yaw"`
	Pitch     float64    `json:"pitch"`
	Health    float64    `json:"health"`
	Held      *Stack     `json:"held,omitempty"`
	Selected  int        `json:"selected"`
	Action    string     `json:"action,omitempty"` // "" while idle
	Input     Input      `json:"input"`
}

// Server is the server that a client reports. Joined and Loaded are its own words.
type Server struct {
	Address string `json:"address"`
	Name    string `json:"name"`
	Joined  bool   `json:"joined"`
	Loaded  bool   `json:"loaded"`
}

// Renderer names the renderer and its memory in bytes.
type Renderer struct {
	Name   string `json:"name"`
	Memory uint64 `json:"memory"`
}

// ClientStatus is what `status` lets through. A nil Server means that the game reported none.
type ClientStatus struct {
	Screen    string    `json:"screen"`
	Dimension string    `json:"dimension"`
	Creative  bool      `json:"creative"`
	Frame     uint64    `json:"frame"`
	Tick      uint64    `json:"tick"`
	Chunks    uint64    `json:"chunks"`
	FPS       float64   `json:"fps"`
	FrameMS   float64   `json:"frame_ms"`
	Renderer  *Renderer `json:"renderer,omitempty"`
	Server    *Server   `json:"server,omitempty"`
}

// Hello projects the reply to Hello.
func (r Reply) Hello() (HelloInfo, error) {
	f := fields{m: r.members}
	h := HelloInfo{Game: f.str("game", maxName), Version: f.str("version", maxName)}
	items, err := array(f.m["protocol"], 64)
	if err != nil {
		f.fault("protocol", "a list of texts")
	}
	for _, it := range items {
		one := fields{m: map[string]jsontext.Value{"protocol": it}}
		h.Protocol = append(h.Protocol, one.str("protocol", maxName))
		f.take(&one)
	}
	return h, f.err
}

// State projects the reply to State.
func (r Reply) State() (PlayerState, error) {
	f := fields{m: r.members}
	s := PlayerState{
		World: f.str("world", maxLabel), Dimension: f.str("dimension", maxName),
		Loaded: f.boolean("loaded"), Joined: f.boolean("joined"), Name: f.str("name", maxName),
		Pos: f.vec3("pos"), Yaw: f.number("yaw"), Pitch: f.number("pitch"), Health: f.number("health"),
		Held: f.stack("held"), Selected: int(f.count("selected")),
	}
	if f.has("action") {
		if s.Action = f.str("action", maxName); s.Action == "" {
			f.fault("action", "null or the name of an action")
		}
	} else if _, there := f.m["action"]; !there {
		f.fault("action", "null or the name of an action")
	}
	in := f.object("input")
	s.Input = in.input()
	f.take(in)
	return s, f.err
}

// Status projects the reply to Status.
func (r Reply) Status() (ClientStatus, error) {
	f := fields{m: r.members}
	s := ClientStatus{
		Screen: f.str("screen", maxName), Dimension: f.str("dimension", maxName), Creative: f.boolean("creative"),
		Frame: f.count("frame"), Tick: f.count("tick"), Chunks: f.count("chunks"),
		FPS: f.number("fps"), FrameMS: f.number("frame_ms"),
	}
	if f.has("renderer") {
		sub := f.object("renderer")
		s.Renderer = &Renderer{Name: sub.str("name", maxLabel), Memory: sub.count("memory")}
		f.take(sub)
	}
	// A server of the wrong type, null among them, is a fault and never "no server".
	if _, there := f.m["server"]; there {
		sub := f.object("server")
		s.Server = &Server{Address: sub.str("address", maxLabel), Name: sub.str("name", maxLabel), Joined: sub.boolean("joined"), Loaded: sub.boolean("loaded")}
		if s.Server.Address == "" {
			sub.fault("address", "an address")
		}
		f.take(sub)
	}
	if f.err != nil {
		return ClientStatus{}, f.err
	}
	return s, nil
}

// Done checks that the reply says that an action completed.
func (r Reply) Done() error {
	f := fields{m: r.members}
	if !f.boolean(keyOK) {
		f.fault(keyOK, "true")
	}
	return f.err
}

func (f *fields) stack(key string) *Stack {
	if !f.has(key) {
		if _, there := f.m[key]; !there {
			f.fault(key, "null or an item stack")
		}
		return nil
	}
	sub := f.object(key)
	s := &Stack{Item: sub.str("item", maxLabel), Count: int(sub.count("count")), Special: sub.special()}
	f.take(sub)
	return s
}

// special says whether an item stack carries what an ordinary one doesn't.
func (f *fields) special() bool {
	return f.has("damage") && string(f.m["damage"]) != "0" || f.has("components") && string(f.m["components"]) != "{}"
}

// input reads user_since_agent as true, false or a count: the page gives no type.
func (f *fields) input() Input {
	in := Input{LastOrigin: "", UserSeen: f.has("last_user_age_s")}
	if f.has("last_origin") {
		in.LastOrigin = f.str("last_origin", maxName)
	}
	c := f.object("counts")
	in.User, in.Agent, in.Game = c.count("user"), c.count("agent"), c.count("game")
	f.take(c)
	if v, ok := f.m["user_since_agent"]; ok && v.Kind() == '0' {
		in.UserSinceAgent = f.count("user_since_agent") > 0
	} else {
		in.UserSinceAgent = f.boolean("user_since_agent")
	}
	if in.UserSeen {
		if in.LastUserAge = f.number("last_user_age_s"); in.LastUserAge < 0 {
			f.fault("last_user_age_s", "a number that is not negative")
		}
	}
	return in
}

// Distance is how far two positions are apart.
func Distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// Where names a position for people.
func Where(p [3]float64) string { return fmt.Sprintf("%.1f %.1f %.1f", p[0], p[1], p[2]) }
