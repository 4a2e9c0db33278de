package mic

import (
	"errors"
	"fmt"
	"time"

	"github.com/gordonklaus/portaudio"
)

// system is PortAudio.
type system struct {
	byDevice map[Device]*portaudio.DeviceInfo
}

// System opens the sound system of this machine. Its libraries write noise to standard error, may hang and may die:
// only a process of its own calls this.
func System() (Host, error) {
	if err := portaudio.Initialize(); err != nil {
		return nil, fmt.Errorf("the sound system can't be opened: %w", err)
	}
	return &system{}, nil
}

// Version names the library.
func Version() string { return portaudio.VersionText() }

func (s *system) Inputs() ([]Device, error) {
	all, err := portaudio.Devices()
	if err != nil {
		return nil, fmt.Errorf("the devices can't be listed: %w", err)
	}
	// Without a microphone there is no default one, which is an error to the library.
	def, _ := portaudio.DefaultInputDevice()
	s.byDevice = map[Device]*portaudio.DeviceInfo{}
	var out []Device
	for _, info := range all {
		if info.MaxInputChannels < 1 {
			continue
		}
		d := Device{
			Name: info.Name, API: info.HostApi.Name, Channels: info.MaxInputChannels, Rate: int(info.DefaultSampleRate),
			LatencyNS: int64(info.DefaultLowInputLatency), Default: def != nil && info.Index == def.Index,
		}
		if _, twice := s.byDevice[d]; twice {
			continue
		}
		s.byDevice[d] = info
		out = append(out, d)
	}
	return out, nil
}

// blockTime is how much audio one callback should bring.
const blockTime = 10 * time.Millisecond

func (s *system) Open(d Device, rate int, callback func(Block)) (Stream, error) {
	info, ok := s.byDevice[d]
	if !ok {
		return nil, &NotFoundError{Name: d.Name, Have: []string{"…"}}
	}
	p := portaudio.StreamParameters{
		Input:      portaudio.StreamDeviceParameters{Device: info, Channels: 1, Latency: info.DefaultLowInputLatency},
		SampleRate: float64(rate), FramesPerBuffer: int(int64(rate) * int64(blockTime) / int64(time.Second)),
		// Dither would make two equal takes differ.
		Flags: portaudio.DitherOff | portaudio.ClipOff,
	}
	stream, err := portaudio.OpenStream(p, func(in []int16, _ portaudio.StreamCallbackTimeInfo, flags portaudio.StreamCallbackFlags) {
		callback(Block{Samples: in, Overflow: flags&portaudio.InputOverflow != 0})
	})
	if errors.Is(err, portaudio.InvalidSampleRate) {
		return nil, fmt.Errorf("%d Hz: %w", rate, ErrRate)
	}
	if err != nil {
		return nil, fmt.Errorf("the microphone can't be opened: %w", err)
	}
	if err := stream.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("the microphone can't be started: %w", err), stream.Close())
	}
	return paStream{stream}, nil
}

func (s *system) Close() error { return portaudio.Terminate() }

type paStream struct{ stream *portaudio.Stream }

func (s paStream) Latency() time.Duration {
	if info := s.stream.Info(); info != nil {
		return info.InputLatency
	}
	return 0
}

// Close doesn't wait for what the device still holds: the tail was read before.
func (s paStream) Close() error { return errors.Join(s.stream.Abort(), s.stream.Close()) }
