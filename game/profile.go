package game

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"blockworld-voice/game/horizon"
	"blockworld-voice/grammar"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/procgroup"
	"blockworld-voice/internal/strictjson"
)

// Mode says in which kind of world a companion may be driven.
type Mode uint8

const (
	SinglePlayerLab Mode = iota + 1
	Remote
)

var modeNames = [...]string{SinglePlayerLab: "singleplayer_lab", Remote: "remote"}

func (m Mode) String() string {
	if m != 0 && int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// Action is a physical action that a policy may permit.
type Action uint8

const (
	ActGoTo Action = iota + 1
	ActLookAt
	ActSay
	ActIdle
	ActFollow
	ActPlace
)

var actionNames = [...]string{ActGoTo: "goto", ActLookAt: "look-at", ActSay: "say", ActIdle: "idle", ActFollow: "follow", ActPlace: "place"}

func (a Action) String() string {
	if a != 0 && int(a) < len(actionNames) {
		return actionNames[a]
	}
	return fmt.Sprintf("action(%d)", uint8(a))
}

func parseAction(s string) (Action, bool) {
	for i, n := range actionNames {
		if n != "" && n == s {
			return Action(i), true
		}
	}
	return 0, false
}

// Binding pins one client.
type Binding struct {
	Endpoint  horizon.Endpoint
	TokenFile string
	Process   procgroup.ID
	Name      string
	Dimension string
	Mode      Mode
	World     string // the label, which a remote client may report as empty
	Server    string // host:port, Remote only
	Timeout   time.Duration
}

// Policy pins what a session may do.
type Policy struct {
	Actions       []Action
	Min, Max      [3]grammar.Coord // inclusive
	MaxDistance   float64
	ActionSeconds float64
	MaxActions    int
	Expires       time.Time
}

// Permits says whether the policy has the action.
func (p Policy) Permits(a Action) bool { return slices.Contains(p.Actions, a) }

// Profile is an admitted game profile. Its digest names the exact document.
type Profile struct {
	Binding       Binding
	Policy        Policy
	Workspace     string
	CheckoutRoots []string
	Digest        digest.Digest // of the document
	BindingDigest digest.Digest // of the canonical binding
}

// bindingDoc and its kin are the documents; pointers tell an absent key from a zero.
type bindingDoc struct {
	Endpoint   *string  `json:"endpoint"`
	TokenFile  *string  `json:"token_file,omitempty"`
	PID        *int     `json:"pid"`
	StartTicks *uint64  `json:"start_ticks"`
	Name       *string  `json:"name"`
	Dimension  *string  `json:"dimension"`
	Mode       *string  `json:"mode"`
	World      *string  `json:"world"`
	Server     *string  `json:"server,omitempty"`
	Timeout    *float64 `json:"timeout_seconds"`
}

type policyDoc struct {
	Actions       *[]string  `json:"actions"`
	Min           *[]float64 `json:"min"`
	Max           *[]float64 `json:"max"`
	MaxDistance   *float64   `json:"max_distance"`
	ActionSeconds *float64   `json:"action_seconds"`
	MaxActions    *int       `json:"max_actions"`
	Expires       *string    `json:"expires"`
}

type profileDoc struct {
	Binding       *bindingDoc `json:"binding"`
	Policy        *policyDoc  `json:"policy"`
	Workspace     *string     `json:"workspace"`
	CheckoutRoots *[]string   `json:"checkout_roots"`
}

// Bounds of what a profile may ask for.
const (
	maxTimeout       = 60.0
	maxActionSeconds = 600.0
	maxDistance      = 1024.0
	maxActions       = 10_000
	maxText          = 256
)

// ReadProfile reads the profile at path: a regular file of this user with mode 0600 and
// no symbolic link, inside the workspace that it names.
func ReadProfile(path string) (Profile, error) {
	data, err := readPrivate(path)
	if err != nil {
		return Profile{}, err
	}
	p, err := ParseProfile(data)
	if err != nil {
		return Profile{}, fmt.Errorf("game profile %s: %w", path, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return Profile{}, err
	}
	if err := plainPath(abs); err != nil {
		return Profile{}, fmt.Errorf("game profile %s: %w", path, err)
	}
	if !inside(abs, p.Workspace) {
		return Profile{}, fmt.Errorf("game profile %s: it must lie inside its own workspace %s", path, p.Workspace)
	}
	return p, nil
}

// ParseProfile checks a profile document. It looks at nothing but the bytes.
func ParseProfile(data []byte) (Profile, error) {
	var d profileDoc
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return Profile{}, err
	}
	c := &checker{data: data}
	c.need("", "binding", d.Binding != nil)
	c.need("", "policy", d.Policy != nil)
	c.need("", "workspace", d.Workspace != nil)
	c.need("", "checkout_roots", d.CheckoutRoots != nil)
	if c.err != nil {
		return Profile{}, c.err
	}
	p := Profile{Binding: c.binding("/binding", *d.Binding), Policy: c.policy(*d.Policy), Workspace: *d.Workspace, CheckoutRoots: *d.CheckoutRoots, Digest: digest.Of(data)}
	if !cleanAbs(p.Workspace) {
		c.fault("/workspace", "it must be an absolute path without . or ..")
	}
	if len(p.CheckoutRoots) == 0 {
		c.fault("/checkout_roots", "it must name at least one checkout")
	}
	for i, r := range p.CheckoutRoots {
		if !cleanAbs(r) {
			c.fault("/checkout_roots/"+strconv.Itoa(i), "it must be an absolute path without . or ..")
		}
	}
	if c.err != nil {
		return Profile{}, c.err
	}
	p.BindingDigest = bindingDigest(p.Binding)
	return p, nil
}

// ParseTarget checks a target profile: a remote binding and nothing else.
func ParseTarget(data []byte) (Binding, error) {
	var d struct {
		Binding *bindingDoc `json:"binding"`
	}
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return Binding{}, err
	}
	c := &checker{data: data}
	if c.need("", "binding", d.Binding != nil); c.err != nil {
		return Binding{}, c.err
	}
	b := c.binding("/binding", *d.Binding)
	if c.err == nil && b.Mode != Remote {
		c.fault("/binding/mode", "a target must be remote")
	}
	return b, c.err
}

// ReadTarget reads a target profile that lies in the workspace.
func ReadTarget(path, workspace string) (Binding, error) {
	data, err := readPrivate(path)
	if err != nil {
		return Binding{}, err
	}
	b, err := ParseTarget(data)
	if err != nil {
		return Binding{}, fmt.Errorf("target profile %s: %w", path, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return Binding{}, err
	}
	if err := plainPath(abs); err != nil {
		return Binding{}, fmt.Errorf("target profile %s: %w", path, err)
	}
	if !inside(abs, workspace) {
		return Binding{}, fmt.Errorf("target profile %s: it must lie inside the workspace %s", path, workspace)
	}
	return b, nil
}

func (c *checker) binding(at string, d bindingDoc) Binding {
	for _, k := range [...]struct {
		key  string
		have bool
	}{{"endpoint", d.Endpoint != nil}, {"pid", d.PID != nil}, {"start_ticks", d.StartTicks != nil}, {"name", d.Name != nil}, {"dimension", d.Dimension != nil},
		{"mode", d.Mode != nil}, {"world", d.World != nil}, {"timeout_seconds", d.Timeout != nil}} {
		c.need(at, k.key, k.have)
	}
	if c.err != nil {
		return Binding{}
	}
	b := Binding{Process: procgroup.ID{PID: *d.PID, StartTicks: *d.StartTicks}, Name: *d.Name, Dimension: *d.Dimension, World: *d.World}
	if d.TokenFile != nil {
		b.TokenFile = *d.TokenFile
	}
	var err error
	if b.Endpoint, err = horizon.ParseEndpoint(*d.Endpoint, b.TokenFile); err != nil {
		c.fault(at+"/endpoint", err.Error())
	}
	if b.Process.PID <= 1 {
		c.fault(at+"/pid", "it must be a process id above 1")
	}
	if b.Process.StartTicks == 0 {
		c.fault(at+"/start_ticks", "it must be above 0")
	}
	c.text(at+"/name", b.Name, true)
	c.text(at+"/dimension", b.Dimension, true)
	c.text(at+"/world", b.World, false)
	for m, n := range modeNames {
		if n != "" && n == *d.Mode {
			b.Mode = Mode(m)
		}
	}
	if b.Mode == 0 {
		c.fault(at+"/mode", "it must be singleplayer_lab or remote")
	}
	switch {
	case b.Mode == Remote && d.Server == nil:
		c.fault(at+"/server", "a remote binding needs the server's host:port")
	case b.Mode == SinglePlayerLab && d.Server != nil:
		c.fault(at+"/server", "a single-player binding has no server")
	case d.Server != nil:
		b.Server = *d.Server
		host, port, err := net.SplitHostPort(b.Server)
		if n, perr := strconv.ParseUint(port, 10, 16); err != nil || host == "" || perr != nil || n == 0 {
			c.fault(at+"/server", "it must be host:port")
		}
		c.text(at+"/server", b.Server, true)
	}
	b.Timeout = c.seconds(at+"/timeout_seconds", *d.Timeout, maxTimeout)
	return b
}

func (c *checker) policy(d policyDoc) Policy {
	const at = "/policy"
	for _, k := range [...]struct {
		key  string
		have bool
	}{{"actions", d.Actions != nil}, {"min", d.Min != nil}, {"max", d.Max != nil}, {"max_distance", d.MaxDistance != nil}, {"action_seconds", d.ActionSeconds != nil},
		{"max_actions", d.MaxActions != nil}, {"expires", d.Expires != nil}} {
		c.need(at, k.key, k.have)
	}
	if c.err != nil {
		return Policy{}
	}
	p := Policy{MaxDistance: *d.MaxDistance, ActionSeconds: *d.ActionSeconds, MaxActions: *d.MaxActions}
	for i, n := range *d.Actions {
		a, ok := parseAction(n)
		if !ok || p.Permits(a) {
			c.fault(at+"/actions/"+strconv.Itoa(i), "it must be one of goto look-at say idle follow place, each once")
		}
		p.Actions = append(p.Actions, a)
	}
	p.Min, p.Max = c.corner(at+"/min", *d.Min, math.Ceil), c.corner(at+"/max", *d.Max, math.Floor)
	for i := range p.Min {
		if p.Min[i] > p.Max[i] {
			c.fault(at+"/max/"+strconv.Itoa(i), "it must not be below min")
		}
	}
	if p.MaxDistance <= 0 || p.MaxDistance > maxDistance {
		c.fault(at+"/max_distance", fmt.Sprintf("it must be above 0 and at most %v", maxDistance))
	}
	c.seconds(at+"/action_seconds", p.ActionSeconds, maxActionSeconds)
	if p.MaxActions < 1 || p.MaxActions > maxActions {
		c.fault(at+"/max_actions", fmt.Sprintf("it must be from 1 to %d", maxActions))
	}
	var err error
	if p.Expires, err = time.Parse(time.RFC3339, *d.Expires); err != nil || p.Expires.Location() != time.UTC {
		c.fault(at+"/expires", "it must be a time like 2026-12-01T12:00:00Z")
	}
	return p
}

func readPrivate(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: it is no regular file", path)
	case st.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s: others can read it; use: chmod 600", path)
	case !ok || int(sys.Uid) != os.Getuid():
		return nil, fmt.Errorf("%s: it belongs to somebody else", path)
	case st.Size() > strictjson.MaxSize:
		return nil, fmt.Errorf("%s: %w", path, errors.New("it is larger than 64 KiB"))
	}
	return readLimited(f, path)
}
