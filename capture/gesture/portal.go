package gesture

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// Portal asks the desktop for a global shortcut, through the GlobalShortcuts portal. It knows releases. Which key it
// is in the end is the person's choice in the desktop's own dialogue.
type Portal struct {
	Key  Key  // that is proposed
	Hold bool // the shortcut is held while speaking; else it is a toggle
	// Patience bounds the wait for the person's answer to the dialogue; 0 is two minutes.
	Patience time.Duration
}

// The names of the portal.
const (
	portalName      = "org.freedesktop.portal.Desktop"
	portalPath      = "/org/freedesktop/portal/desktop"
	portalShortcuts = "org.freedesktop.portal.GlobalShortcuts"
	portalRequest   = "org.freedesktop.portal.Request"
	portalSession   = "org.freedesktop.portal.Session"
	shortcutID      = "talk"
)

// ErrNoPortal says that this desktop has no global shortcuts for programs.
var ErrNoPortal = errors.New("the desktop's portal offers no global shortcuts")

// Run asks for the shortcut and passes on what it reports, until ctx ends. It returns nil when ctx ended, and
// ErrNoPortal when there is none.
func (p Portal) Run(ctx context.Context, signal func(Signal)) error {
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return fmt.Errorf("%w: there is no session bus: %w", ErrNoPortal, err)
	}
	defer conn.Close()
	signals := make(chan *dbus.Signal, 64)
	conn.Signal(signals)
	for _, m := range [][]dbus.MatchOption{
		{dbus.WithMatchInterface(portalRequest), dbus.WithMatchMember("Response")},
		{dbus.WithMatchInterface(portalShortcuts)},
		{dbus.WithMatchInterface(portalSession), dbus.WithMatchMember("Closed")},
	} {
		if err := conn.AddMatchSignalContext(ctx, append(m, dbus.WithMatchSender(portalName))...); err != nil {
			return fmt.Errorf("%w: %w", ErrNoPortal, err)
		}
	}
	c := &portalCall{ctx: ctx, conn: conn, signals: signals, patience: p.Patience}
	if c.patience <= 0 {
		c.patience = 2 * time.Minute
	}
	session, err := p.bind(c)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	p.watch(ctx, session, signals, signal)
	if ctx.Err() == nil {
		return errors.New("the desktop took the shortcut back")
	}
	end, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn.Object(portalName, session).CallWithContext(end, portalSession+".Close", 0)
	return nil
}

// bind makes a session of the portal with our one shortcut.
func (p Portal) bind(c *portalCall) (dbus.ObjectPath, error) {
	made, err := c.ask("CreateSession", func(token string) []any {
		return []any{map[string]dbus.Variant{"handle_token": dbus.MakeVariant(token), "session_handle_token": dbus.MakeVariant("blockworld_voice")}}
	})
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoPortal, err)
	}
	var handle string
	if err := made["session_handle"].Store(&handle); err != nil || !dbus.ObjectPath(handle).IsValid() {
		return "", fmt.Errorf("%w: it gives no session", ErrNoPortal)
	}
	session := dbus.ObjectPath(handle)
	type shortcut struct {
		ID    string
		About map[string]dbus.Variant
	}
	_, err = c.ask("BindShortcuts", func(token string) []any {
		return []any{session, []shortcut{{shortcutID, map[string]dbus.Variant{
			"description": dbus.MakeVariant("blockworld-voice: speak"), "preferred_trigger": dbus.MakeVariant(p.Key.trigger()),
		}}}, "", map[string]dbus.Variant{"handle_token": dbus.MakeVariant(token)}}
	})
	return session, err
}

func (p Portal) watch(ctx context.Context, session dbus.ObjectPath, signals <-chan *dbus.Signal, signal func(Signal)) {
	for {
		var s *dbus.Signal
		var ok bool
		select {
		case <-ctx.Done():
			return
		case s, ok = <-signals:
		}
		now := time.Now()
		if !ok || s.Path == session && s.Name == portalSession+".Closed" {
			signal(Signal{Gone, "portal", now})
			return
		}
		if len(s.Body) < 2 || s.Body[0] != session || s.Body[1] != shortcutID {
			continue
		}
		switch {
		case s.Name == portalShortcuts+".Activated" && p.Hold:
			signal(Signal{Press, "portal", now})
		case s.Name == portalShortcuts+".Activated":
			signal(Signal{Toggle, "portal", now})
		case s.Name == portalShortcuts+".Deactivated" && p.Hold:
			signal(Signal{Release, "portal", now})
		}
	}
}

// portalCall makes requests of the portal, one after another.
type portalCall struct {
	ctx      context.Context
	conn     *dbus.Conn
	signals  <-chan *dbus.Signal
	patience time.Duration
	n        int
}

// ask calls a method and waits for the response to the request that it makes.
func (c *portalCall) ask(method string, args func(token string) []any) (map[string]dbus.Variant, error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.patience)
	defer cancel()
	c.n++
	token := fmt.Sprintf("blockworld_voice_%d", c.n)
	var request dbus.ObjectPath
	if err := c.conn.Object(portalName, portalPath).CallWithContext(ctx, portalShortcuts+"."+method, 0, args(token)...).Store(&request); err != nil {
		return nil, err
	}
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: nobody answered the desktop's question", method)
		case s, ok := <-c.signals:
			if !ok {
				return nil, errors.New("the session bus has ended")
			}
			if s.Name != portalRequest+".Response" || s.Path != request {
				continue
			}
			var code uint32
			results := map[string]dbus.Variant{}
			if err := dbus.Store(s.Body, &code, &results); err != nil {
				return nil, fmt.Errorf("%s: %w", method, err)
			}
			if code != 0 {
				return nil, fmt.Errorf("%s: it was refused", method)
			}
			return results, nil
		}
	}
}

// trigger is the key as desktops name it.
func (k Key) trigger() string {
	if name, ok := map[string]string{
		"enter": "Return", "space": "space", "tab": "Tab", "insert": "Insert", "pause": "Pause", "scrolllock": "Scroll_Lock", "capslock": "Caps_Lock",
		"menu": "Menu", "rightctrl": "Control_R", "rightalt": "Alt_R", "rightshift": "Shift_R", "leftmeta": "Super_L", "rightmeta": "Super_R",
	}[k.name]; ok {
		return name
	}
	return strings.ToUpper(k.name)
}
