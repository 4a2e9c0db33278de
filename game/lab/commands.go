package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const stopRadius = 1.5

// words are the commands; true marks the ones that are polls and no input.
var words = map[string]bool{
	"hello": true, "state": true, "status": true, "inventory": true, "block": true, "events": true, "wait-for": true, "input-log": true,
	"goto": false, "look-at": false, "look": false, "chat": false, "place": false, "stop": false, "respawn": false, "screenshot": true,
}

type object map[string]any

func (o object) text() string {
	b, err := json.Marshal(map[string]any(o), json.Deterministic(true), jsontext.EscapeForHTML(false))
	if err != nil {
		return errorReply("state", "the reply can't be written")
	}
	return string(b)
}

func errorReply(kind, sentence string) string {
	return object{"error": sentence, "kind": kind}.text()
}

func posText(p vec) string {
	a := p.array()
	return fmt.Sprintf("[%s,%s,%s]", num(a[0]), num(a[1]), num(a[2]))
}

func cellText(c cell) string { return fmt.Sprintf("[%d,%d,%d]", c.x, c.y, c.z) }

func num(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// reply is the answer to a line: a text, or a channel that will give it.
type reply struct {
	text  string
	later chan string
}

func now(s string) reply { return reply{text: s} }

// execute carries out one line. g.mu is held.
func (g *Game) execute(line string) reply {
	word, rest, _ := strings.Cut(line, " ")
	poll, known := words[word]
	if !known {
		return now(errorReply("unknown", "there is no such command; use: help"))
	}
	if !poll {
		what := line
		if word == "chat" {
			what = "chat <redacted>"
		}
		g.input.add(g.tick, "agent", what)
	}
	args, flags, err := split(rest)
	if err != nil && word != "chat" {
		return now(errorReply("usage", err.Error()))
	}
	switch word {
	case "hello":
		return now(object{"game": "horizon", "version": "0.2.3", "protocol": []string{"1"}}.text())
	case "state":
		return now(g.stateReply().text())
	case "status":
		return now(g.statusReply().text())
	case "inventory":
		return now(g.inventoryReply())
	case "block":
		return now(g.blockReply(args))
	case "events":
		return now(g.eventsReply(flags))
	case "input-log":
		return now(g.inputReply(flags))
	case "wait-for":
		return g.waitFor(args, flags)
	case "screenshot":
		return now(errorReply("state", "there are no pixels in a headless game"))
	case "stop":
		return now(g.stopAction())
	case "respawn":
		return now(g.respawn())
	case "chat":
		return now(g.chat(line, rest))
	}
	if g.dead {
		return now(errorReply("state", "the player is dead; use: respawn"))
	}
	switch word {
	case "look-at", "look":
		return now(g.look(line, word, args))
	case "goto":
		return g.begin(line, args, flags)
	}
	return g.beginPlace(line, args)
}

func split(rest string) (args []string, flags map[string]string, err error) {
	flags = map[string]string{}
	f := strings.Fields(rest)
	for i := 0; i < len(f); i++ {
		if !strings.HasPrefix(f[i], "--") {
			args = append(args, f[i])
			continue
		}
		if i+1 == len(f) {
			return nil, nil, fmt.Errorf("%s needs a value", f[i])
		}
		flags[f[i]] = f[i+1]
		i++
	}
	return args, flags, nil
}

func numbers(args []string, n int) ([]float64, bool) {
	if len(args) != n {
		return nil, false
	}
	out := make([]float64, n)
	for i, a := range args {
		v, err := strconv.ParseFloat(a, 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 3e7 {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

func (g *Game) chat(line, text string) string {
	if text == "" {
		return errorReply("usage", "nothing to say; use: chat TEXT")
	}
	g.note(EffectSay, lineDigest(line), 0, text)
	g.events.add("chat", text)
	if g.opt.Link != nil {
		g.opt.Link.say(g.opt.Name, text)
	}
	return `{"ok":true}`
}

func (g *Game) look(line, word string, args []string) string {
	if word == "look" {
		v, ok := numbers(args, 2)
		if !ok {
			return errorReply("usage", "use: look YAW PITCH")
		}
		g.me.yaw, g.me.pitch = round3(v[0]), round3(math.Max(-90, math.Min(90, v[1])))
	} else {
		v, ok := numbers(args, 3)
		if !ok {
			return errorReply("usage", "use: look-at X Y Z")
		}
		g.me.lookAt(vec{v[0], v[1], v[2]})
	}
	g.note(EffectTurn, lineDigest(line), 0, fmt.Sprintf("%s %s", num(g.me.yaw), num(g.me.pitch)))
	return object{"ok": true, "yaw": g.me.yaw, "pitch": g.me.pitch}.text()
}

// begin starts a walk.
func (g *Game) begin(line string, args []string, flags map[string]string) reply {
	v, ok := numbers(args, 3)
	if !ok {
		return now(errorReply("usage", "use: goto X Y Z [--timeout S]"))
	}
	limit := 60.0
	if s, given := flags["--timeout"]; given {
		t, err := strconv.ParseFloat(s, 64)
		if err != nil || t <= 0 || t > 3600 {
			return now(errorReply("usage", "--timeout takes seconds"))
		}
		limit = t
	}
	if g.act != nil {
		return now(errorReply("busy", "another action is running; use: stop"))
	}
	a := &action{kind: "goto", line: lineDigest(line), began: g.tick, until: g.tick + int64(math.Ceil(limit*20)), target: vec{v[0], v[1], v[2]}, answer: make(chan string, 1)}
	if g.me.pos.sub(a.target).len() > stopRadius {
		if a.path = g.world.path(g.feet(), a.target, stopRadius-0.15, g.loaded); a.path == nil {
			return now(errorReply("state", "there is no path; try a nearer target"))
		}
	}
	g.act = a
	return reply{later: a.answer}
}

// feet is the cell that the player stands in.
func (g *Game) feet() cell {
	c := vec{g.me.pos.x, g.me.pos.y + 0.01, g.me.pos.z}.cell()
	if g.world.stands(c) {
		return c
	}
	for _, d := range [8]cell{{x: 1}, {x: -1}, {z: 1}, {z: -1}, {x: 1, z: 1}, {x: 1, z: -1}, {x: -1, z: 1}, {x: -1, z: -1}} {
		if n := c.add(d.x, 0, d.z); g.world.stands(n) && n.standing().sub(g.me.pos).len() < 1.3 {
			return n
		}
	}
	return c
}

// loaded says whether the cell's chunk is there.
func (g *Game) loaded(c cell) bool {
	at := g.me.pos.cell()
	return abs(floorDiv(c.x, 16)-floorDiv(at.x, 16)) <= g.opt.Chunks && abs(floorDiv(c.z, 16)-floorDiv(at.z, 16)) <= g.opt.Chunks
}

func (g *Game) beginPlace(line string, args []string) reply {
	v, ok := numbers(args, 3)
	if !ok || v[0] != math.Trunc(v[0]) || v[1] != math.Trunc(v[1]) || v[2] != math.Trunc(v[2]) {
		return now(errorReply("usage", "use: place X Y Z"))
	}
	if g.act != nil {
		return now(errorReply("busy", "another action is running; use: stop"))
	}
	a := &action{kind: "place", line: lineDigest(line), began: g.tick, until: g.tick + placeBound, block: cell{int(v[0]), int(v[1]), int(v[2])}, answer: make(chan string, 1)}
	g.act = a
	return reply{later: a.answer}
}

func (g *Game) stopAction() string {
	g.me.vel.x, g.me.vel.z = 0, 0
	was := any(nil)
	if a := g.act; a != nil {
		was = a.kind
		g.note(EffectStop, a.line, g.tick-a.began, "")
		g.finish(errorReply("state", "the action was stopped"))
	}
	return object{"ok": true, "stopped": was}.text()
}

func (g *Game) respawn() string {
	if !g.dead {
		return errorReply("state", "the player is alive")
	}
	g.dead, g.screen = false, "playing"
	g.spawn()
	g.note(EffectRespawn, "", 0, "")
	g.events.add("respawn", "")
	return `{"ok":true}`
}

func (g *Game) waitFor(args []string, flags map[string]string) reply {
	limit, since := 30.0, g.events.last
	if s, ok := flags["--timeout"]; ok {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || v <= 0 {
			return now(errorReply("usage", "--timeout takes seconds"))
		}
		limit = v
	}
	if s, ok := flags["--since"]; ok {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return now(errorReply("usage", "--since takes a sequence number"))
		}
		since = v
	}
	var holds func() bool
	switch {
	case len(args) == 1 && args[0] == "loaded":
		holds = func() bool { return true }
	case len(args) == 2 && args[0] == "screen":
		holds = func() bool { return g.screen == args[1] }
	case len(args) == 2 && args[0] == "event":
		holds = func() bool { return g.events.has(args[1], "", since) }
	case len(args) >= 2 && args[0] == "chat":
		text := strings.Join(args[1:], " ")
		holds = func() bool { return g.events.has("chat", text, since) }
	default:
		return now(errorReply("usage", "use: wait-for screen NAME|loaded|chat TEXT|event KIND [--timeout S] [--since SEQ]"))
	}
	if holds() {
		return now(`{"ok":true}`)
	}
	w := &waiter{holds: holds, until: g.tick + int64(math.Ceil(limit*20)), answer: make(chan string, 1)}
	g.waits = append(g.waits, w)
	return reply{later: w.answer}
}
