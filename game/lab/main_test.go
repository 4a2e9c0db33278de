package lab_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockworld-voice/game/lab"
)

func TestMainPrintsAProfileAndServesUntilInputEnds(t *testing.T) {
	ws := filepath.Join(t.TempDir(), "ws")
	in, end := io.Pipe()
	out, printed := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- lab.Main([]string{"--workspace", ws, "--seed", "7", "--hills", "--name", "robot"}, in, printed, io.Discard)
		_ = printed.Close()
	}()
	var p struct {
		Binding struct {
			Endpoint, Name, Mode string
			PID                  int
		}
		Workspace string
	}
	if err := json.NewDecoder(out).Decode(&p); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if p.Binding.Name != "robot" || p.Binding.PID != os.Getpid() || p.Workspace != ws || p.Binding.Mode != "singleplayer_lab" {
		t.Fatalf("%+v", p)
	}
	if st, err := os.Stat(p.Binding.Endpoint); err != nil || st.Mode().Perm() != 0o600 {
		t.Fatal(st, err)
	}
	c, err := net.Dial("unix", p.Binding.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ask := func(line string) string {
		t.Helper()
		if _, err := io.WriteString(c, line+"\n"); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 64<<10)
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	for line, want := range map[string]string{
		"screenshot": `"kind":"state"`, "fly": `"kind":"unknown"`, "goto 1 2": `"kind":"usage"`, "goto a b c": `"kind":"usage"`, "goto NaN 1 2": `"kind":"usage"`, "goto 1 2 3 --timeout": `"kind":"usage"`,
		"chat": `"kind":"usage"`, "place 1.5 64 0": `"kind":"usage"`, "respawn": `"kind":"state"`, "block 1 2": `"kind":"usage"`, "wait-for moon": `"kind":"usage"`, "wait-for loaded": `"ok":true`,
		"wait-for screen playing": `"ok":true`, "wait-for screen death --timeout 0.1": `"kind":"timeout"`, "look 90 0": `"yaw":90`, "": `"kind":"unknown"`,
	} {
		if got := ask(line); !strings.Contains(got, want) {
			t.Errorf("%q: %s", line, got)
		}
	}
	ask("chat tajné")
	if got := ask("input-log"); strings.Contains(got, "tajné") || !strings.Contains(got, "chat <redacted>") && !strings.Contains(got, `chat \u003credacted`) {
		t.Error(got)
	}
	if got := ask("input-log --origin user"); !strings.Contains(got, `"events":[]`) {
		t.Error(got)
	}
	if got := ask("wait-for chat tajné --since 0"); !strings.Contains(got, `"ok":true`) {
		t.Error(got)
	}
	_ = end.Close()
	if s := <-status; s != 0 {
		t.Fatal(s)
	}
	if _, err := os.Stat(p.Binding.Endpoint); err == nil {
		t.Fatal("the socket stayed behind")
	}
	if b, err := os.ReadFile(filepath.Join(ws, "journal.jsonl")); err != nil || strings.Count(string(b), "\n") != 2 {
		t.Fatalf("%s %v", b, err)
	}
}

func TestMainStatuses(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "horizon-extras.txt"), []byte("noAi:true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want int
	}{{"--fault nothing", 2}, {"--speed 0", 2}, {"word", 2}, {"--tcp 0 --socket x", 2}, {"--serve 0 --join 127.0.0.1:1", 2}, {"--home " + home, 4}, {"--join 127.0.0.1:1", 7}, {"--help", 0}, {"--serve x", 1},
		{"--seed 1 --seed 2", 2}, {"--name a -name=b", 2}, {"--hills --hills", 2}, {"--name a\nb", 2}, {"--name=", 2}, {"--world a\x00b", 2}, {"--fault busy --fault busy --serve x", 1}} {
		var errs bytes.Buffer
		args := append(strings.Split(c.args, " "), "--workspace", filepath.Join(t.TempDir(), "ws"))
		if c.args == "word" {
			args = []string{"word"}
		}
		if got := lab.Main(args, strings.NewReader(""), io.Discard, &errs); got != c.want || got != 0 && errs.Len() == 0 {
			t.Errorf("%s: status %d, %s", c.args, got, errs.String())
		}
	}
}
