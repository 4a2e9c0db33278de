package synth

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"blockworld-voice/internal/pcm"
)

const (
	// MaxBytes and MaxSeconds bound a reply.
	MaxBytes   = 4 << 20
	MaxSeconds = 30

	wavHeader = 44
)

// Audio is a whole spoken reply: one channel of 16-bit PCM in a WAV whose header tells the truth.
type Audio struct {
	WAV     []byte
	Rate    int
	Frames  int
	Seconds float64
	Peak    float64 // 0 … 1
}

// ReadAudio checks what an engine wrote, or what a player is about to play, and returns it with a plain header: mono,
// 16 bits, 8 to 48 kHz, not longer than MaxSeconds and MaxBytes, not silent. An engine that writes to a pipe can't
// know the length when it writes the header; the impossible sizes it puts there are corrected, and any other size
// must be right.
func ReadAudio(data []byte) (*Audio, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%d bytes are more than the %d that a reply may have", len(data), MaxBytes)
	}
	samples, rate, err := wavSamples(data)
	if err != nil {
		return nil, err
	}
	a := &Audio{Rate: rate, Frames: len(samples) / 2}
	a.Seconds = float64(a.Frames) / float64(rate)
	if a.Seconds > MaxSeconds {
		return nil, fmt.Errorf("%.1f seconds are more than the %d that a reply may last", a.Seconds, MaxSeconds)
	}
	x := make([]float32, a.Frames)
	for i := range x {
		x[i] = float32(int16(binary.LittleEndian.Uint16(samples[2*i:]))) / 32768
	}
	a.Peak = pcm.Peak(x)
	if a.Peak < 0.02 || pcm.RMS(x) < 0.01 {
		return nil, errors.New("the audio is silent")
	}
	a.WAV = append(header(rate, len(samples)), samples...)
	return a, nil
}

// wavSamples returns the bytes of the data chunk.
func wavSamples(data []byte) ([]byte, int, error) {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		return nil, 0, errors.New("not a WAV")
	}
	u16, u32 := binary.LittleEndian.Uint16, binary.LittleEndian.Uint32
	rate := 0
	for rest := data[12:]; len(rest) >= 8; {
		id, size, body := string(rest[:4]), int64(u32(rest[4:])), rest[8:]
		whole := size <= int64(len(body))
		switch {
		case id == "fmt " && whole && size >= 16:
			if f, ch, bits := u16(body), u16(body[2:]), u16(body[14:]); f != 1 || ch != 1 || bits != 16 || u16(body[12:]) != 2 {
				return nil, 0, fmt.Errorf("format %d with %d channels of %d bits, wanted PCM, 1 channel, 16 bits", f, ch, bits)
			}
			rate = int(u32(body[4:]))
			if rate < 8000 || rate > 48000 || u32(body[8:]) != uint32(2*rate) {
				return nil, 0, fmt.Errorf("a sample rate of %d Hz", rate)
			}
		case id == "data" && rate == 0:
			return nil, 0, errors.New("no format before the samples")
		case id == "data":
			if !whole && size < streamSize {
				return nil, 0, fmt.Errorf("%d bytes of samples are announced, %d are there", size, len(body))
			}
			if whole {
				body = body[:size]
			}
			if len(body)%2 != 0 {
				return nil, 0, errors.New("the last sample is cut")
			}
			return body, rate, nil
		case !whole:
			return nil, 0, fmt.Errorf("the chunk %q is cut", id)
		}
		rest = body[min(size+size%2, int64(len(body))):]
	}
	return nil, 0, errors.New("no samples")
}

// streamSize is where announced sizes begin that mean "not known yet": far beyond MaxBytes.
const streamSize = 1 << 30

func header(rate, size int) []byte {
	h := make([]byte, 0, wavHeader+size)
	h = append(h, "RIFF"...)
	h = binary.LittleEndian.AppendUint32(h, uint32(wavHeader-8+size))
	h = append(h, "WAVEfmt "...)
	h = binary.LittleEndian.AppendUint32(h, 16)
	h = binary.LittleEndian.AppendUint16(h, 1)
	h = binary.LittleEndian.AppendUint16(h, 1)
	h = binary.LittleEndian.AppendUint32(h, uint32(rate))
	h = binary.LittleEndian.AppendUint32(h, uint32(2*rate))
	h = binary.LittleEndian.AppendUint16(h, 2)
	h = binary.LittleEndian.AppendUint16(h, 16)
	h = append(h, "data"...)
	return binary.LittleEndian.AppendUint32(h, uint32(size))
}

// tail returns how loud the last 10 ms are against the loudest sample, 0 … 1. Speech that ended by itself fades out.
func (a *Audio) tail() float64 {
	n := min(a.Frames, a.Rate/100)
	samples := a.WAV[wavHeader:]
	var sum float64
	for i := a.Frames - n; i < a.Frames; i++ {
		v := float64(int16(binary.LittleEndian.Uint16(samples[2*i:]))) / 32768
		sum += v * v
	}
	return math.Sqrt(sum/float64(n)) / a.Peak
}

// Samples are the bytes of the samples.
func (a *Audio) Samples() []byte { return a.WAV[wavHeader:] }
