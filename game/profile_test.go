package game

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/internal/strictjson"
)

const goodProfile = `{
  "binding": {
    "endpoint": "/run/user/1000/horizon-control.sock",
    "pid": 4711,
    "start_ticks": 123456,
    "name": "companion",
    "dimension": "minecraft:overworld",
    "mode": "singleplayer_lab",
    "world": "New World",
    "timeout_seconds": 6
  },
  "policy": {
    "actions": ["goto", "look-at", "say"],
    "min": [-512, -64, -512],
    "max": [512, 319.5, 512],
    "max_distance": 64,
    "action_seconds": 30,
    "max_actions": 200,
    "expires": "2026-12-01T12:00:00Z"
  },
  "workspace": "/home/me/.local/state/blockworld-voice/lab",
  "checkout_roots": ["/home/me/src/blockworld-voice"]
}
`

// contract: A1
func TestProfileRoundTrip(t *testing.T) {
	p, err := ParseProfile([]byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := p.Document()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseProfile(doc)
	if err != nil {
		t.Fatal(err)
	}
	if p.BindingDigest != again.BindingDigest || again.Policy.Max[1] != 31950 || again.Policy.Expires != p.Policy.Expires || again.Workspace != p.Workspace {
		t.Fatalf("%+v\n%+v", p, again)
	}
	remote := strings.Replace(strings.Replace(goodProfile, `"singleplayer_lab"`, `"remote", "server": "127.0.0.1:25565"`, 1), `"New World"`, `""`, 1)
	if p, err = ParseProfile([]byte(remote)); err != nil || p.Binding.Mode != Remote || p.Binding.World != "" {
		t.Fatal(p, err)
	}
	if p, err = ParseProfile([]byte(strings.Replace(goodProfile, `"/run/user/1000/horizon-control.sock"`, `"tcp:127.0.0.1:4000", "token_file": "/run/user/1000/token"`, 1))); err != nil || p.Binding.Endpoint.String() != "tcp:127.0.0.1:4000" {
		t.Fatal(p, err)
	}
}

// contract: A1
// contract: A4
func TestProfileFaultsNameKeyAndLine(t *testing.T) {
	for _, c := range []struct {
		old, new string
		path     string
		line     int
	}{
		{`"pid": 4711`, `"pid": 4711, "port": 1`, "/binding/port", 4},
		{`"pid": 4711`, `"pid": 4711, "pid": 4711`, "/binding/pid", 4},
		{`"pid": 4711`, `"pid": 1`, "/binding/pid", 4},
		{`"pid": 4711`, `"pid": -3`, "/binding/pid", 4},
		{`"pid": 4711`, `"pid": "4711"`, "/binding/pid", 4},
		{`"pid": 4711`, `"pid": 4711.5`, "/binding/pid", 4},
		{`    "pid": 4711,` + "\n", ``, "/binding/pid", 2},
		{`"start_ticks": 123456`, `"start_ticks": 0`, "/binding/start_ticks", 5},
		{`"name": "companion"`, `"name": ""`, "/binding/name", 6},
		{`"name": "companion"`, `"name": "a\nb"`, "/binding/name", 6},
		{`"endpoint": "/run/user/1000/horizon-control.sock"`, `"endpoint": "horizon.sock"`, "/binding/endpoint", 3},
		{`"endpoint": "/run/user/1000/horizon-control.sock"`, `"endpoint": "/run/../x.sock"`, "/binding/endpoint", 3},
		{`"endpoint": "/run/user/1000/horizon-control.sock"`, `"endpoint": "tcp:0.0.0.0:4000"`, "/binding/endpoint", 3},
		{`"endpoint": "/run/user/1000/horizon-control.sock"`, `"endpoint": "tcp:127.0.0.1:4000"`, "/binding/endpoint", 3},
		{`"endpoint": "/run/user/1000/horizon-control.sock"`, `"endpoint": "tcp:127.0.0.1:04000", "token_file": "/t"`, "/binding/endpoint", 3},
		{`"mode": "singleplayer_lab"`, `"mode": "lan"`, "/binding/mode", 8},
		{`"mode": "singleplayer_lab"`, `"mode": "remote"`, "/binding/server", 2},
		{`"mode": "singleplayer_lab"`, `"mode": "remote", "server": "example"`, "/binding/server", 8},
		{`"mode": "singleplayer_lab"`, `"mode": "singleplayer_lab", "server": "a:1"`, "/binding/server", 8},
		{`"timeout_seconds": 6`, `"timeout_seconds": 0`, "/binding/timeout_seconds", 10},
		{`"timeout_seconds": 6`, `"timeout_seconds": 61`, "/binding/timeout_seconds", 10},
		{`"timeout_seconds": 6`, `"timeout_seconds": 1e999`, "/binding/timeout_seconds", 10},
		{`"timeout_seconds": 6`, `"timeout_seconds": NaN`, "/binding/timeout_seconds", 10},
		{`"timeout_seconds": 6`, `"timeout_seconds": null`, "/binding/timeout_seconds", 10},
		{`["goto", "look-at", "say"]`, `["goto", "fly"]`, "/policy/actions/1", 13},
		{`["goto", "look-at", "say"]`, `["goto", "goto"]`, "/policy/actions/1", 13},
		{`"min": [-512, -64, -512]`, `"min": [-512, -64]`, "/policy/min", 14},
		{`"min": [-512, -64, -512]`, `"min": [-512, -64, 513]`, "/policy/max/2", 15},
		{`"min": [-512, -64, -512]`, `"min": [-1e9, -64, -512]`, "/policy/min/0", 14},
		{`"max_distance": 64`, `"max_distance": 0`, "/policy/max_distance", 16},
		{`"action_seconds": 30`, `"action_seconds": -1`, "/policy/action_seconds", 17},
		{`"max_actions": 200`, `"max_actions": 0`, "/policy/max_actions", 18},
		{`"2026-12-01T12:00:00Z"`, `"2026-12-01T12:00:00+01:00"`, "/policy/expires", 19},
		{`"2026-12-01T12:00:00Z"`, `"soon"`, "/policy/expires", 19},
		{`["/home/me/src/blockworld-voice"]`, `[]`, "/checkout_roots", 22},
		{`["/home/me/src/blockworld-voice"]`, `["src"]`, "/checkout_roots/0", 22},
		{`"workspace": "/home/me/.local/state/blockworld-voice/lab"`, `"workspace": "lab"`, "/workspace", 21},
	} {
		doc := strings.Replace(goodProfile, c.old, c.new, 1)
		if doc == goodProfile {
			t.Fatalf("%q is not in the profile", c.old)
		}
		_, err := ParseProfile([]byte(doc))
		var e *strictjson.Error
		if !errors.As(err, &e) || e.Path != c.path || e.Line != c.line {
			t.Errorf("%s: %v (%+v), want %s on line %d", c.new, err, e, c.path, c.line)
		}
	}
	for name, doc := range map[string]string{
		"trailing data": goodProfile + "{}", "oversized": goodProfile + strings.Repeat(" ", strictjson.MaxSize), "empty": "", "cut": goodProfile[:200],
		"not UTF-8": strings.Replace(goodProfile, "companion", "\xff", 1), "no binding": `{"policy":{},"workspace":"/w","checkout_roots":["/c"]}`,
		"no policy": `{"binding":{},"workspace":"/w","checkout_roots":["/c"]}`, "no workspace": `{"binding":{},"policy":{},"checkout_roots":["/c"]}`, "no roots": `{"binding":{},"policy":{},"workspace":"/w"}`,
		"nulls": `{"binding":null,"policy":null,"workspace":null,"checkout_roots":null}`, "nothing in it": `{"binding":{},"policy":{},"workspace":"/w","checkout_roots":["/c"]}`,
	} {
		_, err := ParseProfile([]byte(doc))
		if err == nil {
			t.Errorf("%s was accepted", name)
		} else if key, ok := strings.CutPrefix(name, "no "); ok && !strings.Contains(err.Error(), key[:4]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// contract: A5
func TestProfileFileIsPrivateAndInsideItsWorkspace(t *testing.T) {
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	doc := strings.Replace(goodProfile, "/home/me/.local/state/blockworld-voice/lab", ws, 1)
	put := func(path string, mode os.FileMode) string {
		if err := os.WriteFile(path, []byte(doc), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := put(filepath.Join(ws, "p.json"), 0o600)
	if _, err := ReadProfile(good); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(ws, "link.json")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(dir, "away")
	if err := os.Mkdir(away, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, filepath.Join(ws, "sub")); err != nil {
		t.Fatal(err)
	}
	put(filepath.Join(away, "p.json"), 0o600)
	for name, path := range map[string]string{
		"behind a link": filepath.Join(ws, "sub", "p.json"),
		"outside":       put(filepath.Join(dir, "p.json"), 0o600), "readable by others": put(filepath.Join(ws, "open.json"), 0o644),
		"a link": link, "a folder": ws, "missing": filepath.Join(ws, "none"),
	} {
		if _, err := ReadProfile(path); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// contract: A5
func TestWorkspaceRules(t *testing.T) {
	dir := t.TempDir()
	mk := func(name string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(p, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	ws, repo := mk("ws", 0o700), mk("repo", 0o755)
	if err := CheckWorkspace(ws, []string{repo, filepath.Join(dir, "not-there")}); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(ws, link); err != nil {
		t.Fatal(err)
	}
	through := filepath.Join(dir, "through")
	if err := os.Symlink(dir, through); err != nil {
		t.Fatal(err)
	}
	repolink := filepath.Join(dir, "repolink")
	if err := os.Symlink(filepath.Join(dir, "repo"), repolink); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ ws, root string }{
		"others may enter":         {mk("open", 0o750), repo},
		"others may read":          {mk("read", 0o704), repo},
		"a link":                   {link, repo},
		"a link on the way":        {filepath.Join(through, "ws"), repo},
		"inside a checkout":        {mk("repo/ws", 0o700), repo},
		"the checkout inside":      {ws, mk("ws/repo", 0o700)},
		"the same folder":          {ws, ws},
		"a checkout's link":        {mk("repo/ws2", 0o700), repolink},
		"everything":               {ws, "/"},
		"a file":                   {file, repo},
		"missing":                  {filepath.Join(dir, "missing"), repo},
		"a checkout links into it": {ws, link},
	} {
		if err := CheckWorkspace(c.ws, []string{c.root}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestTargetProfileIsABindingAndNothingElse(t *testing.T) {
	binding := goodProfile[strings.Index(goodProfile, `"binding"`):strings.Index(goodProfile, `,
  "policy"`)]
	remote := "{" + strings.Replace(binding, `"singleplayer_lab"`, `"remote", "server": "127.0.0.1:25565"`, 1) + "}"
	if b, err := ParseTarget([]byte(remote)); err != nil || b.Mode != Remote {
		t.Fatal(b, err)
	}
	for _, bad := range []string{goodProfile, "{" + binding + "}", "{}", `{"binding":null}`} {
		if _, err := ParseTarget([]byte(bad)); err == nil {
			t.Errorf("%.60s was accepted", bad)
		}
	}
}
