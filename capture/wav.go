package capture

import (
	"encoding/binary"
	"slices"

	"blockworld-voice/internal/pcm"
)

// placeholder is the smallest size that only a program writing to a pipe claims: 0x7FFFF000 (sox,
// espeak-ng), 0x7FFFFFFF, 0x80000000 (arecord), 0xFFFFFFFF (ffmpeg) and their neighbours. No file
// under MaxFile can really have it.
const placeholder = 0x7ffff000

// layout is what the walk over the chunks found out: where the samples are and what they are.
type layout struct {
	format Format
	enc    pcm.Encoding
	data   []byte // whole frames
	offset int    // of data in the file
	frames int
	marks  []Mark
}

func (l *layout) mark(m Mark) {
	if !slices.Contains(l.marks, m) {
		l.marks = append(l.marks, m)
	}
}

// walker goes through the chunks by their sizes alone, so bytes inside a chunk that look like a
// chunk's name mean nothing.
type walker struct {
	file []byte
	pos  int
	ds64 *ds64
	fmt  *fmtChunk
	out  layout
	done bool // the data was found
}

// ds64 holds the sizes that RF64 keeps outside the 32-bit fields.
type ds64 struct{ riff, data uint64 }

type chunk struct {
	id    string
	start int    // of the header
	body  int    // of the content
	size  uint32 // as claimed
	rest  int    // bytes from body to the file's end
}

// walk reads the structure of a whole file and decodes no sample.
func walk(file []byte) (*layout, *Error) {
	w := &walker{file: file}
	if err := w.riff(); err != nil {
		return nil, err
	}
	for w.pos < len(file) {
		more, err := w.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if !w.done {
		if w.fmt == nil {
			return nil, fault(Malformed, NoOffset, hintResave, "the file has neither a fmt chunk nor a data chunk")
		}
		return nil, fault(Malformed, NoOffset, hintResave, "the file has no data chunk: it holds no audio")
	}
	slices.Sort(w.out.marks)
	return &w.out, nil
}

func (w *walker) riff() *Error {
	f := w.file
	if len(f) < 12 {
		return notWAV(f)
	}
	big := false
	switch string(f[:4]) {
	case "RIFF":
	case "RF64", "BW64":
		big = true
	default:
		return notWAV(f)
	}
	switch kind := string(f[8:12]); kind {
	case "WAVE":
	case "AVI ":
		return fault(NotWAV, 8, hintConvert, "this is an AVI video, not a WAV file")
	default:
		return fault(NotWAV, 8, hintConvert, "this is a RIFF file of kind %q, not a WAV file", kind)
	}
	w.pos = 12
	size := uint64(binary.LittleEndian.Uint32(f[4:]))
	if big {
		if err := w.readDS64(); err != nil {
			return err
		}
		w.out.mark(Mark64)
		size = w.ds64.riff
	}
	if want := uint64(len(f) - 8); size != want && size != want+1 { // many count a last pad byte that they don't write
		w.out.mark(MarkRIFFSize)
	}
	return nil
}

func (w *walker) readDS64() *Error {
	c, ok := w.header(w.pos)
	if !ok || c.id != "ds64" {
		return fault(Malformed, w.pos, hintResave, "an RF64 file must begin with a ds64 chunk")
	}
	if c.size < 28 || uint64(c.size) > uint64(c.rest) {
		return fault(Malformed, w.pos, hintResave, "the ds64 chunk claims %d bytes, which can't be", c.size)
	}
	b := w.file[c.body:]
	w.ds64 = &ds64{riff: binary.LittleEndian.Uint64(b), data: binary.LittleEndian.Uint64(b[8:])}
	w.pos = c.body + int(c.size) + int(c.size)%2
	return nil
}

func (w *walker) header(at int) (chunk, bool) {
	if len(w.file)-at < 8 || at < 0 {
		return chunk{}, false
	}
	return chunk{
		id:    string(w.file[at : at+4]),
		start: at,
		body:  at + 8,
		size:  binary.LittleEndian.Uint32(w.file[at+4:]),
		rest:  len(w.file) - at - 8,
	}, true
}

// next handles one chunk and says whether the walk goes on.
func (w *walker) next() (bool, *Error) {
	c, ok := w.header(w.pos)
	if !ok {
		if w.done {
			w.out.mark(MarkTrailing)
			return false, nil
		}
		return false, fault(Cut, w.pos, hintAgain, "the file ends inside a chunk header, before any audio")
	}
	switch c.id {
	case "data":
		return w.data(c)
	case "RIFF":
		if w.done {
			w.out.mark(MarkTrailing)
			return false, nil
		}
	case "fmt ":
		if w.fmt != nil {
			return false, fault(Malformed, c.start, hintResave, "the file has two fmt chunks")
		}
		if uint64(c.size) <= uint64(c.rest) {
			f, err := readFmt(w.file[c.body:c.body+int(c.size)], c.body)
			if err != nil {
				return false, err
			}
			w.fmt = f
			if f.byteRateWrong {
				w.out.mark(MarkByteRate)
			}
		}
	}
	if uint64(c.size) > uint64(c.rest) {
		if w.done {
			w.out.mark(MarkCutChunk)
			return false, nil
		}
		return false, fault(Cut, c.start, hintAgain, "the chunk %q claims %d bytes and the file has %d more, before any audio", c.id, c.size, c.rest)
	}
	w.skip(c, int(c.size))
	return true, nil
}

// skip moves past a chunk of size bytes and its pad byte. A missing pad byte is noticed by what
// stands there: a pad byte is 0, and no chunk's name begins with 0.
func (w *walker) skip(c chunk, size int) {
	w.pos = c.body + size
	if size%2 == 0 {
		return
	}
	if w.pos >= len(w.file) {
		w.out.mark(MarkMissingPad)
		return
	}
	padded, okPadded := w.header(w.pos + 1)
	bare, okBare := w.header(w.pos)
	if w.file[w.pos] != 0 && okBare && plausible(bare.id) && !(okPadded && known(padded.id)) {
		w.out.mark(MarkMissingPad)
		return
	}
	w.pos++
}

func known(id string) bool {
	switch id {
	case "fmt ", "data", "LIST", "JUNK", "junk", "fact", "bext", "cue ", "smpl", "PEAK", "id3 ", "ID3 ", "iXML", "axml", "chna", "PAD ", "FLLR", "plst", "inst":
		return true
	}
	return false
}

func plausible(id string) bool {
	for _, b := range []byte(id) {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return id[0] != ' '
}

// data settles where the samples are and how many.
func (w *walker) data(c chunk) (bool, *Error) {
	if w.done {
		return false, fault(Malformed, c.start, hintResave, "the file has two data chunks")
	}
	if w.fmt == nil {
		return false, fault(Malformed, c.start, hintResave, "the file has no fmt chunk before its data")
	}
	size, sentinel := uint64(c.size), uint64(placeholder)
	if w.ds64 != nil {
		if c.size != 0xffffffff && size != w.ds64.data {
			return false, fault(Malformed, c.start, hintResave, "the data chunk claims %d bytes and the ds64 chunk %d", c.size, w.ds64.data)
		}
		size = w.ds64.data
		if c.size == 0xffffffff && size == 0 {
			size = sentinel
		}
	}
	rest := uint64(c.rest)
	streamed := size >= sentinel && size > rest
	if size == 0 && rest > 0 && slices.Contains(w.out.marks, MarkRIFFSize) {
		streamed = true
	}
	align := w.fmt.align
	f := w.fmt.format
	switch {
	case streamed:
		w.out.mark(MarkStreamed)
		w.out.marks = slices.DeleteFunc(w.out.marks, func(m Mark) bool { return m == MarkRIFFSize })
		if rest%uint64(align) != 0 {
			w.out.mark(MarkPartialFrame)
		}
		size = rest - rest%uint64(align)
	case size > rest:
		return false, fault(Cut, len(w.file), hintAgain, "the file is cut: its header promises %.2f s of audio and %.2f s are there",
			seconds(size, align, f.Rate), seconds(rest, align, f.Rate))
	case size%uint64(align) != 0:
		return false, fault(Torn, c.body+int(size), hintAgain, "its %d bytes of audio are no whole number of frames of %d bytes: the file is damaged", size, align)
	}
	frames := size / uint64(align)
	if frames > uint64(f.Rate)*MaxSeconds {
		return false, fault(TooLong, c.start, "Cut the one instruction out of it, for example: sox IN.wav OUT.wav trim 0 10",
			"the clip lasts %.0f s, at most %d s are taken", seconds(size, align, f.Rate), MaxSeconds)
	}
	w.done = true
	w.out.format, w.out.enc, w.out.frames = f, w.fmt.enc, int(frames)
	w.out.offset, w.out.data = c.body, w.file[c.body:c.body+int(size)]
	if streamed {
		return false, nil
	}
	w.skip(c, int(size))
	return true, nil
}

func seconds(bytes uint64, align, rate int) float64 {
	return float64(bytes) / float64(align) / float64(rate)
}
