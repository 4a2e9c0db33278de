package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blockworld-voice/capture/gesture"
	"blockworld-voice/capture/mic"
	"blockworld-voice/capture/recorder"
	"blockworld-voice/internal/screen"
	"blockworld-voice/synth/player"
)

type devicesCmd struct {
	Microphone string  `placeholder:"NAME" help:"Microphone for the level meter (default: that of the system)."`
	Level      float64 `placeholder:"SECONDS" help:"Open the microphone for so long and show how loud it is (at most 60)."`
}

// soundRecorder returns a recorder of this program's own process, and what closes it.
func soundRecorder(device string) (*recorder.Recorder, func() error, error) {
	log, err := logs("recorder")
	if err != nil {
		return nil, nil, err
	}
	start, err := recorderStarter(log)
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	r := recorder.New(recorder.Config{Start: start, Device: device, Max: time.Minute})
	return r, func() error { return errors.Join(r.Close(), log.Close()) }, nil
}

func (c *devicesCmd) Run(p *program) (err error) {
	if !(c.Level >= 0 && c.Level <= 60) {
		return usage("give --level between 1 and 60", "%g seconds can't be listened", c.Level)
	}
	r, end, err := soundRecorder(c.Microphone)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	all, err := r.Inputs(p.ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.out, "Microphones:")
	for _, d := range all {
		fmt.Fprintln(p.out, "  "+inputLine(d))
	}
	if len(all) == 0 {
		fmt.Fprintln(p.out, "  none. Connect one, start the sound server, and look whether this user may use /dev/snd.")
	}
	fmt.Fprintln(p.out, "Outputs for --audio-output:")
	for _, o := range outputs() {
		fmt.Fprintf(p.out, "  %-6s %s\n", o.what, oneLine(o.is))
	}
	if c.Level > 0 {
		return c.meter(p, r)
	}
	fmt.Fprintln(p.out, "No microphone was opened. To see how loud one is: blockworld-voice devices --level 5")
	return nil
}

func inputLine(d mic.Device) string {
	mark := " "
	if d.Default {
		mark = "*"
	}
	return fmt.Sprintf("%s %s  (%s, %d Hz, %s)", mark, oneLine(d.Name), oneLine(d.API), d.Rate, count(d.Channels, "channel"))
}

// meter opens the microphone for a while: the command line is the gesture.
func (c *devicesCmd) meter(p *program, r *recorder.Recorder) error {
	long := time.Duration(c.Level * float64(time.Second))
	ended := make(chan recorder.Ending, 1)
	kept := make(chan struct{})
	close(kept)
	var last time.Time
	loudest := recorder.Level(nil)
	take, err := r.Record(p.ctx, recorder.Gesture{At: time.Now(), Kept: kept, End: ended}, func(l recorder.Progress) {
		if l.Ready {
			time.AfterFunc(long, func() { ended <- recorder.Ending{Why: recorder.Toggled, At: time.Now()} })
		}
		loudest = max(loudest, l.Level)
		if time.Since(last) < time.Second/4 {
			return
		}
		last = time.Now()
		fmt.Fprintf(p.out, "  %4.1f s  %s %4.0f dB\n", l.Elapsed.Seconds(), screen.Meter(l.Level, 40), l.Level)
	})
	if err != nil && p.ctx.Err() == nil {
		return err
	}
	says := fmt.Sprintf("The microphone is off. The loudest block had %.0f dB.", loudest)
	switch {
	case take != nil && take.Zeros:
		says += " Only zeros came: is it muted, or is this the wrong device?"
	case loudest < -45:
		says += " That is faint for speech: come closer, or raise its level in the sound settings."
	case loudest > -1:
		says += " That is too loud: lower its level in the sound settings."
	}
	_, err = fmt.Fprintln(p.out, says)
	return err
}

// outputs says what is known of the ways to a loudspeaker without opening one.
func outputs() []finding {
	alsa := finding{what: player.ALSA.String(), is: "the default device of ALSA"}
	cards, err := filepath.Glob("/dev/snd/pcm*p")
	switch {
	case err == nil && len(cards) > 0:
		alsa.is += fmt.Sprintf("; %s", count(len(cards), "sound device"))
	case pulseServer() != "":
		alsa.is += "; no sound card here, but the sound server can be it"
	default:
		alsa.is, alsa.next = "no sound card and no sound server was found", "connect a sound card, or start the sound server of your desktop"
	}
	pulse := finding{what: player.Pulse.String(), is: "the sound server at " + pulseServer()}
	if pulseServer() == "" {
		pulse.is, pulse.next = "no sound server was found", "start PulseAudio or PipeWire (pipewire-pulse), or leave --audio-output out"
	} else if !pulsePlugin() {
		pulse.is, pulse.next = "ALSA's way to the sound server is missing", "apt install libasound2-plugins, dnf install alsa-plugins-pulseaudio"
	}
	return []finding{alsa, pulse}
}

// pulseServer is where a sound server seems to be, or "".
func pulseServer() string {
	if s := os.Getenv("PULSE_SERVER"); s != "" {
		return s
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		path := filepath.Join(dir, "pulse", "native")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func pulsePlugin() bool {
	for _, pattern := range []string{"/usr/lib*/alsa-lib/libasound_module_pcm_pulse.so", "/usr/lib*/*/alsa-lib/libasound_module_pcm_pulse.so"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// soundFindings are the doctor's lines for a session. None of it is needed by runs of files and texts.
func soundFindings(p *program) []finding {
	out := []finding{microphoneFinding(p)}
	for _, o := range outputs() {
		o.what = "output " + o.what
		out = append(out, o)
	}
	keys := finding{what: "global key"}
	if n, err := gesture.EvdevReadable(); err != nil {
		keys.is, keys.next = err.Error()+"; the terminal's key works all the same", gesture.EvdevHint
	} else {
		keys.is = count(n, "keyboard") + " can be read: --global-key works"
	}
	socket := finding{what: "control socket"}
	if path, err := controlPath(); err != nil {
		socket.is, socket.next = err.Error(), hint(err)
	} else {
		socket.is = path
	}
	return append(out, keys, socket)
}

func microphoneFinding(p *program) finding {
	f := finding{what: "microphone"}
	r, end, err := soundRecorder("")
	var all []mic.Device
	if err == nil {
		all, err = r.Inputs(p.ctx)
		err = errors.Join(err, end())
	}
	if err != nil {
		f.is, f.next = err.Error(), "look into log/recorder.log in the state folder; is this user in the group audio?"
		return f
	}
	i := slices.IndexFunc(all, func(d mic.Device) bool { return d.Default })
	if i < 0 {
		e := &mic.NotFoundError{}
		for _, d := range all {
			e.Have = append(e.Have, d.Name)
		}
		f.is, f.next = e.Error(), e.Hint()
		return f
	}
	f.is = strings.TrimPrefix(inputLine(all[i]), "* ") + "; not opened"
	return f
}
