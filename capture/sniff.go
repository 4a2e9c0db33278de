package capture

import (
	"bytes"
	"unicode/utf8"
)

var signatures = []struct {
	offset int
	magic  string
	what   string
}{
	{0, "RIFX", "a big-endian WAV file (RIFX)"},
	{0, "riff\x2e\x91\xcf\x11", "a Wave64 file"},
	{0, "ID3", "an MP3 file"},
	{0, "OggS", "an Ogg file (Vorbis, Opus or Speex)"},
	{0, "fLaC", "a FLAC file"},
	{0, "FORM", "an AIFF file"},
	{0, ".snd", "a Sun audio file (AU)"},
	{0, "caff", "a Core Audio file"},
	{0, "#!AMR", "an AMR file"},
	{4, "ftyp", "an MP4 or M4A file"},
	{0, "\x1aE\xdf\xa3", "a Matroska or WebM file"},
	{0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", "a Windows Media file"},
	{0, "\x1f\x8b", "a gzip archive"},
	{0, "PK\x03\x04", "a zip archive"},
	{0, "\x28\xb5\x2f\xfd", "a zstd archive"},
	{0, "\xfd7zXZ\x00", "an xz archive"},
	{0, "\x7fELF", "a program"},
	{0, "%PDF", "a PDF document"},
	{0, "\x89PNG", "a picture"},
	{0, "\xff\xd8\xff", "a picture"},
}

// notWAV names what a file without a RIFF header is, as far as its first bytes tell.
func notWAV(data []byte) *Error {
	if len(data) == 0 {
		return fault(NotWAV, NoOffset, "Record or copy it again.", "the file is empty")
	}
	for _, s := range signatures {
		if len(data) >= s.offset && bytes.HasPrefix(data[s.offset:], []byte(s.magic)) {
			return fault(NotWAV, 0, hintConvert, "this is %s, not a WAV file", s.what)
		}
	}
	if isMPEG(data) {
		return fault(NotWAV, 0, hintConvert, "this is an MPEG audio file (MP3 or AAC), not a WAV file")
	}
	if len(data) < 12 && bytes.HasPrefix([]byte("RIFF"), data[:min(4, len(data))]) {
		return fault(Cut, len(data), hintAgain, "the file ends inside its first header")
	}
	if isText(data[:min(len(data), 512)]) {
		return fault(NotWAV, 0, "Name a WAV file; typed instructions go to --text.", "this is text, not a WAV file")
	}
	return fault(NotWAV, 0, hintConvert, "this is not a WAV file: it doesn't begin with RIFF")
}

// isMPEG looks for a frame header of MPEG audio layer 1–3 or ADTS.
func isMPEG(data []byte) bool {
	return len(data) >= 4 && data[0] == 0xff && data[1]&0xe0 == 0xe0 && data[1]&0x18 != 0x08 && data[2]&0xf0 != 0xf0
}

func isText(data []byte) bool {
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			return len(data) < utf8.UTFMax && !utf8.FullRune(data)
		}
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		data = data[n:]
	}
	return true
}
