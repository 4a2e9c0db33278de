// Package capture makes a Clip: what a person said, as 16 kHz mono samples together with the bytes
// that they came from, and says whether there is speech in it.
//
// # WAV files
//
// A WAV file is walked whole before a sample is decoded, and is then taken whole or refused whole:
// nothing is decoded from a cut file. What is read, what is read with a Mark, and what is refused
// stands in docs/wav.md; every row of that page is a test. In short: PCM of 8, 16, 24 and 32 bits
// and float of 32 and 64 bits, plain or extensible, 8000 to 192000 Hz, 1 to 8 channels, in RIFF, RF64
// and BW64, up to MaxSeconds and MaxFile.
//
// The integers of 16, 24 and 32 bits are taken out of their bytes by go-audio/wav, which is handed
// a canonical header and exactly the bytes that the walk found: on its own it decodes a cut file
// without an error, doesn't look at the sub-format of an extensible header, and takes the byte after
// an odd chunk for a sample. Floats it doesn't know (it would read their bits as integers), and
// 8-bit samples it leaves unsigned, so those two are converted by internal/pcm.
//
// # Memory
//
// Decode holds the caller's bytes, the samples at 16 kHz (4 bytes each) and blocks of a few
// thousand samples; it never allocates for what a header only claims. That is at most 4 × the file
// (and a constant under 2 MiB, most of it the resampler's), with two exceptions that follow from the samples being float32: a
// mono file of 8 bits under 16 kHz, at most 8 ×, and a mono file of 16 bits under 10.7 kHz, at most
// 5 × in total and 4 × at any moment. In every case the samples are at most 19.2 MB, since a clip
// ends at MaxSeconds.
package capture

import (
	"fmt"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/pcm"
)

const (
	// Rate is the sample rate of every Clip's Samples.
	Rate = 16000
	// MaxFile is the largest file, in bytes.
	MaxFile = 512 << 20
	// MaxSeconds is the longest clip. An instruction takes seconds; minutes of silence still pass.
	MaxSeconds = 300
	// MinSourceRate and MaxSourceRate bound the rate of a file.
	MinSourceRate = 8000
	MaxSourceRate = 192000
	// MaxChannels bounds the channels of a file.
	MaxChannels = 8
)

// Clip is one captured utterance. Nothing in it changes once it was made.
type Clip struct {
	Name    string // file name without its folder
	Source  []byte // the file as it was captured
	SHA256  digest.Digest
	Format  Format // of the source
	Frames  int    // of the source
	Samples []float32
	Seconds float64
	Marks   []Mark // what was unusual and still read, in order of Mark
	Clipped int    // float samples beyond ±1 that were limited
}

// SpeechWAV is the clip as the recogniser gets it: 16 kHz, mono, 16-bit PCM.
func (c *Clip) SpeechWAV() []byte { return pcm.WAV(c.Samples, Rate) }

// Format is how samples stood in the source.
type Format struct {
	Rate       int    `json:"rate"`
	Channels   int    `json:"channels"`
	Bits       int    `json:"bits"`
	Coding     Coding `json:"coding"`
	Extensible bool   `json:"extensible,omitzero"`
}

func (f Format) String() string {
	return fmt.Sprintf("%d Hz, %d channels, %d-bit %s", f.Rate, f.Channels, f.Bits, f.Coding)
}

func (f Format) encoding() (pcm.Encoding, bool) {
	for e, d := range encodings {
		if d.coding == f.Coding && d.bits == f.Bits {
			return e, true
		}
	}
	return 0, false
}

var encodings = map[pcm.Encoding]struct {
	coding Coding
	bits   int
}{
	pcm.U8: {PCM, 8}, pcm.S16: {PCM, 16}, pcm.S24: {PCM, 24}, pcm.S32: {PCM, 32},
	pcm.F32: {Float, 32}, pcm.F64: {Float, 64},
}

// Coding is the kind of number that a sample is.
type Coding uint8

// The codings.
const (
	PCM Coding = iota + 1
	Float
)

var codingNames = names[Coding]{what: "coding", of: []string{PCM: "pcm", Float: "float"}}

func (c Coding) String() string                { return codingNames.name(c) }
func (c Coding) MarshalText() ([]byte, error)  { return codingNames.marshal(c) }
func (c *Coding) UnmarshalText(b []byte) error { return codingNames.unmarshal(c, b) }

// Mark is something unusual in a source that was read all the same. It belongs in the receipt.
type Mark uint8

// The marks.
const (
	// MarkStreamed: the header's sizes are what a program writes to a pipe; the data ran to the end of the file.
	MarkStreamed Mark = iota + 1
	// MarkPartialFrame: such a stream ended inside a frame, whose bytes were left out.
	MarkPartialFrame
	// Mark64: RF64 or BW64.
	Mark64
	// MarkMissingPad: a chunk of odd size has no pad byte.
	MarkMissingPad
	// MarkByteRate: the byte rate contradicts rate and frame size; nothing depends on it.
	MarkByteRate
	// MarkRIFFSize: the RIFF size isn't that of the file, but the data is whole.
	MarkRIFFSize
	// MarkTrailing: bytes after the last chunk.
	MarkTrailing
	// MarkCutChunk: a chunk after the data is cut; the data is whole.
	MarkCutChunk
	// MarkClipped: float samples beyond ±1 were limited.
	MarkClipped
)

var markNames = names[Mark]{what: "mark", of: []string{
	MarkStreamed: "streamed", MarkPartialFrame: "partial_frame", Mark64: "rf64", MarkMissingPad: "missing_pad", MarkByteRate: "byte_rate",
	MarkRIFFSize: "riff_size", MarkTrailing: "trailing_bytes", MarkCutChunk: "cut_chunk", MarkClipped: "clipped"}}

func (m Mark) String() string                { return markNames.name(m) }
func (m Mark) MarshalText() ([]byte, error)  { return markNames.marshal(m) }
func (m *Mark) UnmarshalText(b []byte) error { return markNames.unmarshal(m, b) }

// names is the one table of a closed set: index 0 is no value.
type names[T ~uint8] struct {
	what string
	of   []string
}

func (n names[T]) name(v T) string {
	if v == 0 || int(v) >= len(n.of) {
		return fmt.Sprintf("%s(%d)", n.what, uint8(v))
	}
	return n.of[v]
}

func (n names[T]) marshal(v T) ([]byte, error) {
	if v == 0 || int(v) >= len(n.of) {
		return nil, fmt.Errorf("there is no %s %d", n.what, uint8(v))
	}
	return []byte(n.of[v]), nil
}

func (n names[T]) unmarshal(v *T, b []byte) error {
	for i, name := range n.of {
		if i > 0 && name == string(b) {
			*v = T(i)
			return nil
		}
	}
	return fmt.Errorf("there is no %s %q", n.what, b)
}
