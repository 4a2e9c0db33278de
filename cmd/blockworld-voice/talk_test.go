package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blockworld-voice/capture/gesture"
	"blockworld-voice/evidence"
)

// far is a walk that takes long in the embedded lab.
const far = "go to 500 64 500"

// The session is stopped in each of its states, in each of the ways that there are. Afterwards it has ended in order:
// nothing of it lives, the evidence is whole, and nothing was sent after the stop.
// contract: X4
// contract: V3
// contract: V8
func TestStopInEveryState(t *testing.T) {
	states := []struct {
		name  string
		given pretended
		flags []string
		until func(*screenTest)
	}{
		{"OFF", pretended{Mic: true, Hears: far}, nil, func(*screenTest) {}},
		{"ARMING", pretended{Mic: true, Hears: far, First: 60}, nil, func(s *screenTest) { s.keys("\r") }},
		{"RECORDING", pretended{Mic: true, Hears: far}, nil, func(s *screenTest) { s.keys("\r") }},
		{"THINKING", pretended{Mic: true, Hears: far, Slow: 60}, nil, say},
		{"PROPOSAL", pretended{Mic: true, Hears: far}, []string{"--confirm", "always"}, say},
		{"DOING", pretended{Mic: true, Hears: far}, nil, say},
		{"SPEAKING", pretended{Mic: true, Hears: "state", Player: "clocked"}, []string{"--play-replies", "--reply-language", "en"}, say},
	}
	ways := []struct {
		name string
		stop func(*testing.T, *screenTest)
	}{
		{"the stop key", func(_ *testing.T, s *screenTest) { s.keys("s") }},
		{"ctrl-c", func(_ *testing.T, s *screenTest) { s.keys("\x03") }},
		{"q", func(_ *testing.T, s *screenTest) { s.keys("q") }},
		{"SIGINT", func(_ *testing.T, s *screenTest) { s.signal(syscall.SIGINT) }},
		{"SIGTERM", func(_ *testing.T, s *screenTest) { s.signal(syscall.SIGTERM) }},
		{"the control socket", func(t *testing.T, s *screenTest) {
			if a, err := gesture.Send(t.Context(), socketOf(s), gesture.WordStop); err != nil || !strings.HasPrefix(a, "ok") {
				t.Errorf("ptt stop: %q, %v", a, err)
			}
		}},
	}
	for i, state := range states {
		for j, way := range ways {
			if !everyWay() && j != i%len(ways) && j != (i+3)%len(ways) {
				continue // each state in two ways, each way in two states
			}
			t.Run(state.name+"/"+way.name, func(t *testing.T) {
				t.Parallel()
				s := onScreen(t, []string{state.given.env(), "XDG_RUNTIME_DIR="}, append([]string{"--session", "--language", "en"}, state.flags...)...)
				s.see(20*time.Second, "OFF")
				state.until(s)
				s.see(20*time.Second, state.name)
				time.Sleep(50 * time.Millisecond)
				way.stop(t, s)
				code := s.ends(15 * time.Second)
				screen := s.written()
				if !strings.Contains(screen, "session ended: ") {
					t.Errorf("it doesn't say how it ended:\n%s", s.text())
				}
				if left := s.helpers(); len(left) != 0 {
					t.Errorf("processes that are left: %v", left)
				}
				signalled := j == 1 || j == 3 || j == 4
				moved := state.name == "DOING"
				if code != 0 && code != 6 || code == 0 && (signalled || moved) {
					t.Errorf("exit status %d:\n%s", code, s.text())
				}
				rep, err := evidence.Verify(only(t, s.state))
				if err != nil || !rep.OK() {
					t.Errorf("%+v, %v", rep, err)
				}
				if sent := attempts(t, s.state); (sent > 0) != moved {
					t.Errorf("%d attempts", sent)
				}
			})
		}
	}
}

func everyWay() bool { return os.Getenv("EVERY_STOP") != "" }

// say makes a take of a second.
func say(s *screenTest) {
	s.keys("\r")
	s.see(10*time.Second, "RECORDING")
	time.Sleep(900 * time.Millisecond)
	s.keys("\r")
}

// socketOf is the control socket of a session without a runtime folder.
func socketOf(s *screenTest) string { return filepath.Join(s.state, "blockworld-voice", "ptt.sock") }

// attempts counts what was sent.
func attempts(t *testing.T, state string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(only(t, state), "*", "*", "4-game", "attempt.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// What hangs is given up: the stop is sent and told, and the program ends.
// contract: X4
func TestStopWhileAnythingHangs(t *testing.T) {
	for name, c := range map[string]struct {
		given pretended
		shows string
		until func(*screenTest)
		code  int
	}{
		"the recogniser":            {pretended{Mic: true, Hears: far, Deaf: true}, "listening for a command", say, 1},
		"the sound system opening":  {pretended{Mic: true, Hears: far, HangOpen: true}, "ARMING", func(s *screenTest) { s.keys("\r") }, 6},
		"the sound system closing":  {pretended{Mic: true, Hears: far, Stubborn: true}, "RECORDING", func(s *screenTest) { s.keys("\r") }, 6},
		"a microphone without data": {pretended{Mic: true, Hears: far, First: 60}, "ARMING", func(s *screenTest) { s.keys("\r") }, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onScreen(t, []string{c.given.env(), "XDG_RUNTIME_DIR="}, "--session", "--language", "en")
			s.see(20*time.Second, "OFF")
			c.until(s)
			s.see(10*time.Second, c.shows)
			start := time.Now()
			s.keys("s")
			code := s.ends(40 * time.Second)
			if code != c.code {
				t.Errorf("exit status %d after %v\n%s", code, time.Since(start), s.written())
			}
			if !strings.Contains(s.written(), "the client was seen to be idle") {
				t.Errorf("it doesn't say that the stop was seen:\n%s", s.written())
			}
			for end := time.Now().Add(2 * time.Second); len(s.helpers()) != 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			}
			if left := s.helpers(); len(left) != 0 {
				t.Errorf("processes that are left: %v", left)
			}
		})
	}
}

// plain starts a session in lines and returns what it printed, line by line of JSON.
func plain(t *testing.T, given pretended, flags []string, input ...string) ([]map[string]any, string, int) {
	t.Helper()
	state := private(t)
	args := append([]string{"--session", "--json", "--language", "en"}, flags...)
	c, out, errs, in := startWithInput(t, state, []string{given.env(), "XDG_RUNTIME_DIR="}, args...)
	waitFor(t, errs, "OFF:")
	for _, line := range input {
		if pause, err := time.ParseDuration(line); err == nil {
			time.Sleep(pause)
			continue
		}
		if text, wait := strings.CutPrefix(line, "wait "); wait {
			waitFor(t, errs, text)
			continue
		}
		if _, err := in.Write([]byte(strings.TrimPrefix(line, "type ") + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	_ = in.Close()
	_ = c.Wait()
	var docs []map[string]any
	for line := range strings.Lines(out.String()) {
		var d map[string]any
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		docs = append(docs, d)
	}
	rep, err := evidence.Verify(only(t, state))
	if err != nil || !rep.OK() {
		t.Errorf("%+v, %v", rep, err)
	}
	return docs, errs.String(), c.ProcessState.ExitCode()
}

func field(d map[string]any, path ...string) string {
	for _, p := range path[:len(path)-1] {
		next, ok := d[p].(map[string]any)
		if !ok {
			return ""
		}
		d = next
	}
	s, _ := d[path[len(path)-1]].(string)
	return s
}

// Spoken stop, and the words stop and quit, end the session.
// contract: V6
func TestSpokenStopEndsTheSession(t *testing.T) {
	t.Parallel()
	docs, errs, code := plain(t, pretended{Mic: true, Hears: "stop"}, nil, "type ", "wait RECORDING", "900ms", "type ", "wait session ended", "100ms")
	if len(docs) != 1 || field(docs[0], "decision", "command") != "stop" || field(docs[0], "outcome", "kind") != "cancelled" || code != 6 {
		t.Errorf("%d %v\n%s", code, docs, errs)
	}
	if !strings.Contains(errs, "session ended: the spoken stop") {
		t.Error(errs)
	}
}

// Only an explicit yes makes an instruction of a proposal.
func TestConfirm(t *testing.T) {
	unsure := pretended{Mic: true, Hears: "go to 1 64 1", Unsure: true}
	take := []string{"type ", "wait RECORDING", "900ms", "type "}
	for name, c := range map[string]struct {
		answer []string
		sent   bool
	}{
		"y":              {[]string{"type y"}, true},
		"n":              {[]string{"type n"}, false},
		"nothing":        {nil, false},
		"a spoken yes":   {[]string{"800ms", "type ", "wait RECORDING: speak now\nnote", "type "}, true},
		"the end of all": {[]string{"type q"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := append(append([]string{}, take...), "wait PROPOSAL")
			if name == "a spoken yes" {
				c.answer = []string{"800ms", "type ", "900ms", "type "}
			}
			script = append(append(script, c.answer...), "wait OFF:@2", "type q")
			if name == "the end of all" {
				script = script[:len(script)-2]
			}
			docs, errs, _ := plain(t, unsure, nil, script...)
			if len(docs) != 1 {
				t.Fatalf("%v\n%s", docs, errs)
			}
			got := field(docs[0], "decision", "command")
			if c.sent && (got != "goto 1 64 1" || field(docs[0], "outcome", "kind") != "reported") || !c.sent && field(docs[0], "decision", "reason") != "not_confirmed" {
				t.Errorf("%v\n%s", docs, errs)
			}
		})
	}
}

// Playback that fails changes nothing about the outcome, and the next reply is tried again.
// contract: V9
func TestBusyOutput(t *testing.T) {
	t.Parallel()
	docs, errs, code := plain(t, pretended{Mic: true, Hears: "state", Player: "busy"}, []string{"--play-replies", "--reply-language", "en"},
		"type ", "wait RECORDING", "900ms", "type ", "wait OFF:@2", "800ms", "type ", "wait RECORDING@2", "900ms", "type ", "wait OFF:@3", "type q")
	if len(docs) != 2 || code != 0 {
		t.Fatalf("%d %v\n%s", code, docs, errs)
	}
	for _, d := range docs {
		if field(d, "outcome", "kind") != "reported" || field(d, "playback", "state") != "failed" {
			t.Errorf("%v", d)
		}
	}
}

// A key during a reply ends the reply, and then the microphone opens. The pauses are longer than the time in which a
// second key is taken for the keyboard's own repetition.
func TestGestureEndsAReply(t *testing.T) {
	t.Parallel()
	docs, errs, code := plain(t, pretended{Mic: true, Hears: "state", Player: "clocked"}, []string{"--play-replies", "--reply-language", "en"},
		"type ", "wait RECORDING", "900ms", "type ", "wait SPEAKING", "900ms", "type ", "wait RECORDING@2", "900ms", "type ", "wait SPEAKING@2", "wait OFF:@2", "type q")
	if len(docs) != 2 || code != 0 {
		t.Fatalf("%d %v\n%s", code, docs, errs)
	}
	if a, b := field(docs[0], "playback", "state"), field(docs[1], "playback", "state"); a != "failed" || b != "player_exited" {
		t.Errorf("%s, %s\n%s", a, b, errs)
	}
}

// The gesture settles what the companion does by itself before the microphone opens.
// contract: T2
func TestGestureSettlesTheTask(t *testing.T) {
	t.Parallel()
	docs, errs, _ := plain(t, pretended{Mic: true, Hears: "idle"}, []string{"--behavior-seconds", "60"},
		"type ", "wait RECORDING", "900ms", "type ", "wait OFF:@2", "1500ms", "type ", "wait RECORDING@2", "300ms", "type q")
	ended := 0
	for _, d := range docs {
		if field(d, "event") != "ended" || field(d, "task") != "t000001" {
			continue
		}
		ended++
		if field(d, "why") != "capture" {
			t.Errorf("the task ended for %s", field(d, "why"))
		}
		take, err := os.ReadFile(filepath.Join(filepath.Dir(field(d, "evidence")), "u000002", "1-capture", "take.json"))
		if err != nil {
			t.Fatal(err)
		}
		var opened struct {
			Opened     int64 `json:"stream_started_ns"`
			Settlement int64 `json:"settlement_ns"`
		}
		if err := json.Unmarshal(take, &opened); err != nil || opened.Settlement <= 0 || opened.Opened == 0 {
			t.Errorf("%s, %v", take, err)
		}
	}
	if ended != 1 {
		t.Errorf("%v\n%s", docs, errs)
	}
}

// A device that fails costs one take.
func TestDeviceFailsInASession(t *testing.T) {
	t.Parallel()
	docs, errs, code := plain(t, pretended{Mic: true, Hears: "state", Vanish: 30}, nil,
		"type ", "wait RECORDING", "wait OFF:@2", "800ms", "type ", "wait RECORDING@2", "100ms", "type ", "wait OFF:@3", "type q")
	if len(docs) != 2 || code != 7 {
		t.Fatalf("%d %v\n%s", code, docs, errs)
	}
	if field(docs[0], "decision", "reason") != "no_speech" || field(docs[0], "outcome", "kind") != "refused" {
		t.Errorf("%v", docs[0])
	}
	docs, errs, code = plain(t, pretended{Mic: true, Hears: "state", Missing: true}, nil, "type ", "wait OFF:@2", "type q")
	if len(docs) != 1 || code != 7 || !strings.Contains(errs+field(docs[0], "decision", "detail"), "there is no microphone") {
		t.Errorf("%d %v\n%s", code, docs, errs)
	}
}

func TestTalkFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"--session", "--wav", "x.wav"}, {"--session", "--text", "state"}, {"--play-replies", "--text", "state"}, {"--confirm", "always", "--text", "state"},
		{"--session", "--play-replies"}, {"--session", "--audio-output", "jack"}, {"--session", "--confirm", "perhaps"},
		{"--session", "--talk-key", "any"}, {"--session", "--talk-key", "rightctrl"}, {"--session", "--global-key", "anykey"},
		{"--session", "--gesture", "wave"}, {"--session", "--record-seconds", "0.5"}, {"--session", "--record-seconds", "500"}, {"ptt", "jump"},
	} {
		c, _, errs := start(t, private(t), []string{pretended{Mic: true, Hears: "state"}.env()}, args...)
		if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != 2 {
			t.Errorf("%v: exit status %d, %s", args, c.ProcessState.ExitCode(), errs)
		}
	}
}
