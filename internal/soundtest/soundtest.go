// Package soundtest runs a real sound server with nothing behind it: what is played into its virtual microphone can
// be recorded by a program under test, and what that program plays can be recorded here.
package soundtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockworld-voice/internal/procgroup"
)

// Server is a running sound server with a microphone and an output, each a sink that leads nowhere.
type Server struct {
	t   testing.TB
	dir string
	env []string

	pulse *procgroup.Proc
}

const script = `load-module module-native-protocol-unix socket=%s/native auth-anonymous=1
load-module module-null-sink sink_name=voice rate=48000 channels=1
load-module module-null-sink sink_name=reply rate=48000 channels=1
set-default-source voice.monitor
set-default-sink reply
`

// Start starts a server and ends it with the test. A machine without PulseAudio fails the test: scripts/setup installs it.
func Start(t testing.TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "sound") // the name of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{t: t, dir: dir, env: []string{"XDG_RUNTIME_DIR=" + dir, "PULSE_SERVER=unix:" + filepath.Join(dir, "native"), "PULSE_COOKIE=" + filepath.Join(dir, "cookie"), "ALSA_CONFIG_PATH=" + filepath.Join(dir, "asoundrc")}}
	alsa := "</usr/share/alsa/alsa.conf>\npcm.!default { type pulse }\nctl.!default { type pulse }\n"
	for name, data := range map[string]string{"run.pa": fmt.Sprintf(script, dir), "asoundrc": alsa} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Return()
	return s
}

// Return starts the server, and waits until its devices are at speed.
func (s *Server) Return() {
	s.t.Helper()
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = log.Close() })
	s.pulse = s.start(log, "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "-F", filepath.Join(s.dir, "run.pa"))
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if out, err := s.run("pactl", "list", "short", "sinks"); err == nil && strings.Contains(out, "reply") {
			break
		}
		if time.Now().After(end) {
			data, _ := os.ReadFile(log.Name())
			s.t.Fatalf("the sound server doesn't answer:\n%s", data)
		}
	}
	// A sink that leads nowhere renders two seconds at once unless somebody asks for less, and asking helps only after
	// those. A real microphone has no such block.
	for _, sink := range []string{"voice", "reply"} {
		s.start(nil, "pacat", "--playback", "--latency-msec=10", "--device="+sink, "--format=s16le", "--rate=48000", "--channels=1", "/dev/zero")
	}
	time.Sleep(2200 * time.Millisecond)
}

// Env is what a program needs in its environment to be on this server.
func (s *Server) Env() []string { return s.env }

func (s *Server) start(log *os.File, name string, args ...string) *procgroup.Proc {
	s.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		s.t.Fatalf("%v\nrun: make setup", err)
	}
	spec := procgroup.Spec{Path: path, Args: args, Env: append(append(os.Environ(), s.env...), "HOME="+s.dir)}
	if log != nil {
		spec.Stdout, spec.Stderr = log, log
	}
	p, err := procgroup.Start(context.Background(), spec)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			s.t.Error(err)
		}
	})
	return p
}

func (s *Server) run(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Env = append(append(os.Environ(), s.env...), "HOME="+s.dir)
	out, err := c.Output()
	return string(out), err
}

// Say plays a file into the microphone, to its end.
func (s *Server) Say(path string) {
	s.t.Helper()
	if _, err := s.run("paplay", "--device=voice", path); err != nil {
		s.t.Fatalf("paplay: %v", err)
	}
}

// Readers counts the streams that read the microphone.
func (s *Server) Readers() int { return len(s.readers()) }

func (s *Server) readers() []string {
	s.t.Helper()
	sources, err := s.run("pactl", "list", "short", "sources")
	if err != nil {
		s.t.Fatal(err)
	}
	id := ""
	for line := range strings.Lines(sources) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == "voice.monitor" {
			id = f[0]
		}
	}
	streams, err := s.run("pactl", "list", "short", "source-outputs")
	if err != nil || id == "" {
		s.t.Fatalf("source %q, %v", id, err)
	}
	var ids []string
	for line := range strings.Lines(streams) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == id {
			ids = append(ids, f[0])
		}
	}
	return ids
}

// Players counts the streams that play on the output, beside the one that keeps it awake.
func (s *Server) Players() int {
	s.t.Helper()
	out, err := s.run("pactl", "list", "short", "sink-inputs")
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Count(out, "\n") - 2
}

// Listen records the output until the function that it returns is called, which gives the samples at 16 kHz.
func (s *Server) Listen() func() []float64 {
	s.t.Helper()
	path := filepath.Join(s.dir, fmt.Sprintf("reply-%d.raw", time.Now().UnixNano()))
	p := s.start(nil, "parec", "--device=reply.monitor", "--latency-msec=20", "--format=s16le", "--rate=16000", "--channels=1", path)
	return func() []float64 {
		s.t.Helper()
		data, err := os.ReadFile(path)
		if err := errors.Join(err, p.Stop()); err != nil {
			s.t.Fatal(err)
		}
		var out []float64
		for i := 0; i+1 < len(data); i += 2 {
			out = append(out, float64(int16(binary.LittleEndian.Uint16(data[i:])))/32768)
		}
		return out
	}
}

// Loud is how many seconds of samples at 16 kHz are louder than quiet noise, in steps of 20 ms.
func Loud(samples []float64) float64 {
	const step = 320
	n := 0
	for i := 0; i+step <= len(samples); i += step {
		sum := 0.0
		for _, v := range samples[i : i+step] {
			sum += v * v
		}
		if math.Sqrt(sum/step) > 0.01 {
			n++
		}
	}
	return float64(n) / 50
}

// Vanish ends the server, and every device with it.
func (s *Server) Vanish() {
	s.t.Helper()
	if err := s.pulse.Stop(); err != nil {
		s.t.Fatal(err)
	}
}
