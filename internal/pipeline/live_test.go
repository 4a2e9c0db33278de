package pipeline

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blockworld-voice/capture/mic"
	"blockworld-voice/capture/recorder"
	"blockworld-voice/game"
	"blockworld-voice/synth"
	"blockworld-voice/synth/player"
)

// spokenTake is a take of a voice-like sound.
func spokenTake(end recorder.End) *recorder.Take {
	wav := tone(1.2)[44:]
	now := time.Now()
	t := &recorder.Take{Device: mic.Device{Name: "desk", API: "scripted", Rate: 16000}, Rate: 16000, End: end, Blocks: 120,
		Gesture: now, Opened: now, First: now.Add(time.Millisecond), Release: now.Add(2 * time.Millisecond), Last: now.Add(3 * time.Millisecond), Closed: now.Add(4 * time.Millisecond)}
	for i := 0; i+1 < len(wav); i += 2 {
		t.Samples = append(t.Samples, int16(binary.LittleEndian.Uint16(wav[i:])))
	}
	return t
}

func readDoc[T any](t *testing.T, rec *Record, name string) (d T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(rec.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// contract: E3
// contract: T2
func TestLiveUtterance(t *testing.T) {
	b := newBench(t)
	b.engine.text = "go to 1 2 3"
	var order []string
	src := Live{
		Settle: func(context.Context) error {
			order = append(order, "settle")
			time.Sleep(5 * time.Millisecond)
			return nil
		},
		Record: func(context.Context) (*recorder.Take, error) {
			order = append(order, "record")
			return spokenTake(recorder.Released), nil
		},
	}
	rec := b.do(t.Context(), src)
	want(t, "verdicts", verdicts(rec), "done done done done done skipped")
	if len(order) != 2 || order[0] != "settle" {
		t.Errorf("%v", order)
	}
	d := readDoc[takeDoc](t, rec, "1-capture/take.json")
	if d.SettlementNS < 5e6 || d.Device.Name != "desk" || d.End != recorder.Released || d.Frames != 19200 {
		t.Errorf("%+v", d)
	}
	times := []int64{d.GestureNS, d.OpenedNS, d.FirstNS, d.ReleaseNS, d.LastNS, d.ClosedNS}
	for i := 1; i < len(times); i++ {
		if times[i] < times[i-1] || times[i] == 0 {
			t.Errorf("times %v", times)
		}
	}
	if d.SpeechEndNS <= d.FirstNS {
		t.Errorf("the end of speech is %d", d.SpeechEndNS)
	}
	l := rec.Line()
	if l.Source.Kind != "microphone" || l.Source.Seconds != 1.2 || l.Decision.Command != "goto 1 2 3" {
		t.Errorf("%+v %+v", l.Source, l.Decision)
	}
}

func TestLiveWithoutATake(t *testing.T) {
	for _, c := range []struct {
		name               string
		take               *recorder.Take
		err                error
		verdicts, decision string
		fault              bool
	}{
		{"tap", &recorder.Take{End: recorder.Tapped, Rate: 16000, Blocks: 3}, nil, "refused skipped refused skipped done skipped", "no_speech", false},
		{"longest", spokenTake(recorder.MaxDuration), nil, "refused skipped refused skipped done skipped", "no_speech", false},
		{"unplugged keyboard", spokenTake(recorder.KeyLost), nil, "refused skipped refused skipped done skipped", "no_speech", false},
		{"lost device", spokenTake(recorder.DeviceLost), nil, "failed skipped skipped skipped done skipped", "no_speech", true},
		{"no callbacks", spokenTake(recorder.NoCallbacks), nil, "failed skipped skipped skipped done skipped", "no_speech", true},
		{"no device", nil, &recorder.Error{Problem: recorder.DeviceMissing}, "failed skipped skipped skipped done skipped", "no_speech", true},
		{"fenced", spokenTake(recorder.Released), &recorder.Error{Problem: recorder.Fenced}, "failed skipped skipped skipped done skipped", "no_speech", true},
		{"empty", &recorder.Take{End: recorder.Released, Rate: 16000}, nil, "refused skipped refused skipped done skipped", "no_speech", false},
	} {
		b := newBench(t)
		b.engine.text = "go to 1 2 3"
		rec := b.do(t.Context(), Live{Record: func(context.Context) (*recorder.Take, error) { return c.take, c.err }})
		want(t, c.name+": verdicts", verdicts(rec), c.verdicts)
		want(t, c.name+": decision", rec.Line().Decision.Reason, c.decision)
		if b.engine.calls != 0 || len(b.companion.calls) != 0 || (rec.Fault != nil) != c.fault {
			t.Errorf("%s: %d calls, fault %v", c.name, b.engine.calls, rec.Fault)
		}
		if c.take != nil && len(c.take.Samples) > 0 {
			if _, err := os.Stat(filepath.Join(rec.Dir, "1-capture/clip.wav")); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

func TestUnsettledKeepsTheMicrophoneClosed(t *testing.T) {
	b := newBench(t)
	rec := b.do(t.Context(), Live{
		Settle: func(context.Context) error { return errors.New("still walking") },
		Record: func(context.Context) (*recorder.Take, error) {
			t.Error("the microphone was opened")
			return nil, errors.New("no")
		},
	})
	want(t, "verdicts", verdicts(rec), "failed skipped skipped skipped done skipped")
}

// contract: X4
func TestStopWithinATake(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	rec := b.do(ctx, Live{Record: func(context.Context) (*recorder.Take, error) {
		cancel()
		return spokenTake(recorder.Stopped), nil
	}})
	want(t, "verdicts", verdicts(rec), "cancelled skipped skipped skipped skipped skipped")
	if !rec.Halted || b.engine.calls != 0 {
		t.Errorf("halted %v, %d calls", rec.Halted, b.engine.calls)
	}
}

// plays is a player with a fixed end.
type plays struct {
	err   error
	first func()
	calls int
}

func (p *plays) Play(ctx context.Context, _ *synth.Audio) (player.Facts, error) {
	p.calls++
	if p.first != nil {
		p.first()
	}
	return player.Facts{Output: "fake", Exited: p.err == nil, Started: time.Now(), Ended: time.Now()}, p.err
}

// contract: V8
// contract: V9
func TestPlayback(t *testing.T) {
	for _, c := range []struct {
		err            error
		state, verdict string
	}{
		{nil, "player_exited", "done"},
		{&player.Error{Problem: player.Failed, Err: errors.New("busy")}, "failed", "failed"},
		{&player.Error{Problem: player.TimedOut}, "failed", "failed"},
		{&player.Error{Problem: player.Stopped}, "failed", "cancelled"},
		{&player.Error{Problem: player.Unretired}, "unknown", "failed"},
	} {
		b := newBench(t)
		p := &plays{err: c.err}
		b.session.cfg.Player = p
		rec := b.do(t.Context(), Typed{"go to 1 2 3"})
		want(t, "state", rec.Line().Playback.State, c.state)
		want(t, "verdicts", verdicts(rec), "skipped skipped done done done "+c.verdict)
		if _, ok := rec.Outcome.(game.Reported); !ok || len(b.companion.calls) != 1 || p.calls != 1 {
			t.Errorf("%v: outcome %v, %v", c.err, rec.Outcome, b.companion.calls)
		}
		d := readDoc[playbackDoc](t, rec, "6-playback/playback.json")
		if d.State.String() != c.state || d.Output != "fake" || d.StartedNS == 0 || d.EndedNS < d.StartedNS {
			t.Errorf("%+v", d)
		}
	}
	b := newBench(t)
	b.voice.err = errors.New("mute")
	p := &plays{}
	b.session.cfg.Player = p
	rec := b.do(t.Context(), Typed{"go to 1 2 3"})
	want(t, "without a reply", verdicts(rec), "skipped skipped done done failed skipped")
	if p.calls != 0 {
		t.Error("a reply that is not there was played")
	}
}
