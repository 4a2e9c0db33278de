package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blockworld-voice/capture/gesture"
	"blockworld-voice/evidence"
	"blockworld-voice/internal/soundtest"
)

// What a terminal with the kitty keyboard protocol sends for the key enter.
const (
	tells   = "\x1b[?11u" // its answer: event types are reported
	press   = "\x1b[13;1:1u"
	again   = "\x1b[13;1:2u"
	release = "\x1b[13;1:3u"
	blur    = "\x1b[O"
)

// takeEnds are how the takes of a session ended, in order.
func takeEnds(t *testing.T, state string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(only(t, state), "*", "*", "1-capture", "take.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	var ends []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(data), `"end": "`)
		end, _, _ := strings.Cut(rest, `"`)
		ends = append(ends, end)
	}
	return ends
}

// Where the terminal tells of releases the key is held; where it doesn't, hold mode is not offered.
func TestHoldOnATerminal(t *testing.T) {
	t.Parallel()
	s := onScreen(t, []string{pretended{Mic: true, Hears: "state"}.env(), "XDG_RUNTIME_DIR="}, "--session", "--language", "en", "--gesture", "hold")
	s.see(20*time.Second, "tells of no releases")
	s.keys(tells)
	s.see(5*time.Second, "hold enter")

	s.keys(press) // a hold, with the keyboard's repetition
	s.see(5*time.Second, "RECORDING")
	for range 20 {
		time.Sleep(30 * time.Millisecond)
		s.keys(again)
	}
	time.Sleep(300 * time.Millisecond)
	s.keys(release)
	s.see(10*time.Second, "reported")
	s.see(10*time.Second, "OFF")

	s.keys(press) // a tap
	time.Sleep(100 * time.Millisecond)
	s.keys(release)
	s.see(10*time.Second, "only tapped")
	s.see(10*time.Second, "OFF")

	s.keys(press) // the window loses the focus with the key down
	s.see(5*time.Second, "RECORDING")
	time.Sleep(400 * time.Millisecond)
	s.keys(blur)
	s.see(10*time.Second, "went away")
	s.see(10*time.Second, "OFF")

	for range 30 { // what other programs see of a held key: releases and presses in pairs
		s.keys(press)
		time.Sleep(15 * time.Millisecond)
		s.keys(release)
		time.Sleep(15 * time.Millisecond)
	}
	time.Sleep(time.Second) // merge window, tail, and the rest of the utterance
	s.see(10*time.Second, "OFF")
	s.keys("q")
	if code := s.ends(20 * time.Second); code != 3 {
		t.Errorf("exit status %d\n%s", code, s.written())
	}
	want := []string{"released", "tapped", "key_lost", "released"}
	got := takeEnds(t, s.state)
	if !slices.Equal(got, want) {
		t.Errorf("the takes ended %v, want %v", got, want)
	}
}

// ptt holds, toggles, and ends a take of another source.
func TestPTT(t *testing.T) {
	t.Parallel()
	s := onScreen(t, []string{pretended{Mic: true, Hears: "state"}.env(), "XDG_RUNTIME_DIR="}, "--session", "--language", "en")
	s.see(20*time.Second, "OFF")
	send := func(w gesture.Word) {
		t.Helper()
		if a, err := gesture.Send(t.Context(), socketOf(s), w); err != nil || !strings.HasPrefix(a, "ok") {
			t.Fatalf("%s: %q, %v", w, a, err)
		}
	}
	send(gesture.WordPress)
	s.see(5*time.Second, "RECORDING")
	time.Sleep(900 * time.Millisecond)
	send(gesture.WordRelease)
	s.see(10*time.Second, "reported")
	s.see(10*time.Second, "OFF")
	send(gesture.WordToggle)
	s.see(5*time.Second, "RECORDING")
	time.Sleep(900 * time.Millisecond)
	s.keys("\r")
	s.see(10*time.Second, "OFF")
	send(gesture.WordStop)
	if code := s.ends(20 * time.Second); code != 0 {
		t.Errorf("exit status %d\n%s", code, s.written())
	}
	if got := takeEnds(t, s.state); !slices.Equal(got, []string{"released", "toggled"}) {
		t.Errorf("%v", got)
	}
}

// With a real sound server: a stop closes the microphone and the output, and a microphone that vanishes costs one take.
// contract: X4
// contract: V3
func TestStopOnASoundServer(t *testing.T) {
	server := soundtest.Start(t)
	env := append(server.Env(), pretended{Hears: "state"}.env())
	session := func() *screenTest {
		s := onScreen(t, env, "--session", "--language", "en", "--reply-language", "en", "--play-replies")
		s.see(20*time.Second, "OFF")
		s.keys("\r")
		s.see(10*time.Second, "RECORDING")
		return s
	}
	stop := func(s *screenTest, code int) {
		t.Helper()
		s.keys("s")
		if got := s.ends(20 * time.Second); got != code {
			t.Errorf("exit status %d, want %d\n%s", got, code, s.written())
		}
		if r, p := server.Readers(), server.Players(); r != 0 || p != 0 {
			t.Errorf("after the stop %d streams record and %d play", r, p)
		}
		if rep, err := evidence.Verify(only(t, s.state)); err != nil || !rep.OK() {
			t.Errorf("%+v, %v", rep, err)
		}
	}
	s := session()
	if n := server.Readers(); n != 1 {
		t.Errorf("%d streams record", n)
	}
	stop(s, 6)

	s = session()
	server.Say(filepath.Join(clips(t), "en", "state.wav"))
	s.keys("\r")
	s.see(20*time.Second, "SPEAKING")
	for end := time.Now().Add(5 * time.Second); server.Players() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the reply doesn't reach the sound server")
		}
	}
	if n := server.Readers(); n != 0 {
		t.Errorf("%d streams record while the reply plays", n)
	}
	stop(s, 0)

	s = session()
	server.Vanish()
	s.see(20*time.Second, "OFF")
	s.see(5*time.Second, "no_speech")
	server.Return()
	s.keys("\r")
	s.see(20*time.Second, "RECORDING")
	stop(s, 7)
}

// A terminal that is closed ends the session in order.
// contract: X4
func TestTerminalGoesAway(t *testing.T) {
	t.Parallel()
	s := onScreen(t, []string{pretended{Mic: true, Hears: "state"}.env(), "XDG_RUNTIME_DIR="}, "--session", "--language", "en")
	s.see(20*time.Second, "OFF")
	s.keys("\r")
	s.see(10*time.Second, "RECORDING")
	if err := s.pty.Close(); err != nil {
		t.Fatal(err)
	}
	if code := s.ends(20 * time.Second); code == 0 {
		t.Errorf("exit status %d", code)
	}
	if left := s.helpers(); len(left) != 0 {
		t.Errorf("processes that are left: %v", left)
	}
	if rep, err := evidence.Verify(only(t, s.state)); err != nil || !rep.OK() || rep.Utterances != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
}

// Without the sound server nothing else is played on, though there is another device.
// contract: V8
func TestNoOtherOutput(t *testing.T) {
	dir := t.TempDir()
	conf := filepath.Join(dir, "asound.conf")
	other := "</usr/share/alsa/alsa.conf>\npcm.!default { type pulse }\npcm.other { type null\n hint { show { @func refer name defaults.namehint.basic } description \"another\" } }\n"
	if err := os.WriteFile(conf, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{"alsa", "pulse"} {
		state := private(t)
		c, out, errs := start(t, state, []string{"PULSE_SERVER=unix:" + filepath.Join(dir, "none"), "XDG_RUNTIME_DIR=" + dir, "ALSA_CONFIG_PATH=" + conf},
			"--text", "state", "--json", "--play-replies", "--reply-language", "en", "--audio-output", output)
		if err := c.Wait(); err != nil {
			t.Errorf("%s: the outcome doesn't stand: %v %s", output, err, errs)
		}
		if !strings.Contains(out.String(), `"outcome":{"kind":"reported"`) || !strings.Contains(out.String(), `"playback":{"state":"failed"`) {
			t.Errorf("%s: %s", output, out)
		}
	}
}
