package gesture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// bus starts a session bus of the test's own.
func bus(t *testing.T) string {
	t.Helper()
	c := exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1", "--address=unix:path="+filepath.Join(t.TempDir(), "bus"))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatalf("%v\nrun: make setup", err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	return address
}

// desk is a desktop's portal.
type desk struct {
	conn    *dbus.Conn
	refuse  atomic.Bool
	trigger chan string
}

const deskSession = dbus.ObjectPath("/org/freedesktop/portal/desktop/session/1_1/blockworld_voice")

func (d *desk) respond(options map[string]dbus.Variant, results map[string]dbus.Variant) dbus.ObjectPath {
	var token string
	_ = options["handle_token"].Store(&token)
	path := dbus.ObjectPath("/org/freedesktop/portal/desktop/request/1_1/" + token)
	code := uint32(0)
	if d.refuse.Load() {
		code = 1
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = d.conn.Emit(path, portalRequest+".Response", code, results) })
	return path
}

func (d *desk) CreateSession(options map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	return d.respond(options, map[string]dbus.Variant{"session_handle": dbus.MakeVariant(string(deskSession))}), nil
}

func (d *desk) BindShortcuts(_ dbus.ObjectPath, shortcuts []struct {
	ID    string
	About map[string]dbus.Variant
}, _ string, options map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	var trigger string
	_ = shortcuts[0].About["preferred_trigger"].Store(&trigger)
	d.trigger <- shortcuts[0].ID + " " + trigger
	return d.respond(options, map[string]dbus.Variant{}), nil
}

func newDesk(t *testing.T, address string) *desk {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	d := &desk{conn: conn, trigger: make(chan string, 4)}
	if err := conn.Export(d, portalPath, portalShortcuts); err != nil {
		t.Fatal(err)
	}
	if r, err := conn.RequestName(portalName, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(r, err)
	}
	return d
}

func TestPortal(t *testing.T) {
	d := newDesk(t, bus(t))
	key, err := ParseKey("rightctrl")
	if err != nil {
		t.Fatal(err)
	}
	for _, hold := range []bool{true, false} {
		got := make(chan Signal, 8)
		ended := make(chan error, 1)
		go func() {
			ended <- Portal{Key: key, Hold: hold}.Run(context.Background(), func(s Signal) { got <- s })
		}()
		if tr := <-d.trigger; tr != "talk Control_R" {
			t.Errorf("it asks for %q", tr)
		}
		time.Sleep(100 * time.Millisecond)
		emit := func(path dbus.ObjectPath, name string, body ...any) {
			if err := d.conn.Emit(path, name, body...); err != nil {
				t.Fatal(err)
			}
		}
		none := map[string]dbus.Variant{}
		emit(portalPath, portalShortcuts+".Activated", deskSession, "another", uint64(1), none)
		emit(portalPath, portalShortcuts+".Activated", dbus.ObjectPath("/another/session"), shortcutID, uint64(1), none)
		emit(portalPath, portalShortcuts+".Activated", deskSession, shortcutID, uint64(2), none)
		emit(portalPath, portalShortcuts+".Deactivated", deskSession, shortcutID, uint64(3), none)
		emit(deskSession, portalSession+".Closed", none)
		want := "press release gone"
		if !hold {
			want = "toggle gone"
		}
		if err := <-ended; err == nil || errors.Is(err, ErrNoPortal) {
			t.Errorf("the shortcut was taken back: %v", err)
		}
		close(got)
		var kinds []string
		for s := range got {
			kinds = append(kinds, s.Kind.String())
		}
		if k := strings.Join(kinds, " "); k != want {
			t.Errorf("hold %v: %s, want %s", hold, k, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if err := (Portal{Key: key}).Run(ctx, func(Signal) {}); err != nil {
		t.Errorf("its end: %v", err)
	}
	d.refuse.Store(true)
	if err := (Portal{Key: key}).Run(t.Context(), nil); !errors.Is(err, ErrNoPortal) {
		t.Errorf("a person who says no: %v", err)
	}
}

func TestNoPortal(t *testing.T) {
	bus(t)
	if err := (Portal{Key: keys[0]}).Run(t.Context(), nil); !errors.Is(err, ErrNoPortal) {
		t.Errorf("a desktop without a portal: %v", err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", fmt.Sprintf("unix:path=%s/none", t.TempDir()))
	if err := (Portal{Key: keys[0]}).Run(t.Context(), nil); !errors.Is(err, ErrNoPortal) {
		t.Errorf("without a bus: %v", err)
	}
}
