package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/internal/soundtest"
)

// The whole way with a real sound server, a terminal and the real recogniser: a clip is said into the virtual
// microphone between two key presses, and the reply is heard at the output.
// contract: V1
// contract: V2
func TestSessionOnASoundServer(t *testing.T) {
	server := soundtest.Start(t)
	s := onScreen(t, server.Env(), "--session", "--language", "en", "--reply-language", "en", "--play-replies", "--audio-output", "pulse")
	s.see(20*time.Second, "OFF")
	time.Sleep(300 * time.Millisecond)
	if n := server.Readers(); n != 0 {
		t.Errorf("%d streams read the microphone before the gesture", n)
	}
	heard := server.Listen()
	s.keys("\r")
	s.see(5*time.Second, "RECORDING")
	if n := server.Readers(); n != 1 {
		t.Errorf("%d streams read the microphone while it says that it records", n)
	}
	server.Say(filepath.Join(clips(t), "en", "goto_10_64_m5.wav"))
	s.keys("\r")
	s.see(5*time.Second, "THINKING")
	if n := server.Readers(); n != 0 {
		t.Errorf("%d streams read the microphone after the gesture", n)
	}
	s.see(60*time.Second, "SPEAKING")
	if n := server.Readers(); n != 0 {
		t.Errorf("%d streams read the microphone during the reply", n)
	}
	s.see(20*time.Second, "goto 10 64 -5")
	screen := s.see(20*time.Second, "OFF")
	reply := heard()
	if loud := soundtest.Loud(reply); loud < 0.5 {
		t.Errorf("%.2f s of the reply were heard of %.1f s that were listened", loud, float64(len(reply))/16000)
	}
	s.keys("q")
	if code := s.ends(15 * time.Second); code != 0 {
		t.Errorf("exit status %d\n%s\n%s", code, screen, s.written())
	}
	if left := s.helpers(); len(left) != 0 {
		t.Errorf("processes that are left: %v", left)
	}
	root := only(t, s.state)
	rep, err := evidence.Verify(root)
	if err != nil || !rep.OK() || rep.Utterances != 1 {
		t.Fatalf("%+v, %v", rep, err)
	}
	takes, err := filepath.Glob(filepath.Join(root, "*", "*", "1-capture", "take.json"))
	if err != nil || len(takes) != 1 {
		t.Fatalf("%v, %v", takes, err)
	}
	data, err := os.ReadFile(takes[0])
	if err != nil {
		t.Fatal(err)
	}
	var take struct {
		End     string
		Device  struct{ Name string }
		Gesture int64 `json:"gesture_ns"`
		Opened  int64 `json:"stream_started_ns"`
		First   int64 `json:"first_sample_ns"`
		Release int64 `json:"release_ns"`
		Last    int64 `json:"last_sample_ns"`
		Speech  int64 `json:"end_of_speech_ns"`
	}
	if err := json.Unmarshal(data, &take); err != nil {
		t.Fatal(err)
	}
	if take.End != "toggled" || take.Device.Name == "" || !(take.Gesture < take.Opened && take.Opened < take.First && take.First < take.Release && take.Release < take.Last && take.First < take.Speech) {
		t.Errorf("%s", data)
	}
	t.Logf("gesture to open %v, to ready %v", time.Duration(take.Opened-take.Gesture), time.Duration(take.First-take.Gesture))
}
