package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"blockworld-voice/internal/pcm"
)

// Format tags of a fmt chunk.
const (
	tagPCM        = 0x0001
	tagFloat      = 0x0003
	tagExtensible = 0xfffe
)

// guidTail ends the sub-format GUID of every format that also has a tag; the tag stands before it.
var guidTail = []byte{0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71}

var tagNames = map[uint16]string{
	0x0000: "an unknown coding", 0x0002: "Microsoft ADPCM", 0x0006: "A-law", 0x0007: "µ-law", 0x0010: "OKI ADPCM", 0x0011: "IMA ADPCM",
	0x0014: "G.723 ADPCM", 0x0022: "TrueSpeech", 0x0031: "GSM 6.10", 0x0040: "G.721 ADPCM", 0x0045: "G.726 ADPCM", 0x0050: "MPEG audio",
	0x0055: "MP3", 0x0064: "G.726 ADPCM", 0x0092: "Dolby AC-3", 0x00ff: "AAC", 0x0161: "Windows Media Audio", 0xf1ac: "FLAC",
}

func tagName(tag uint16) string {
	if n, ok := tagNames[tag]; ok {
		return n
	}
	return fmt.Sprintf("format tag 0x%04X", tag)
}

// fmtChunk is a fmt chunk that was found right.
type fmtChunk struct {
	format        Format
	enc           pcm.Encoding
	align         int // bytes a frame
	byteRateWrong bool
}

// readFmt checks a fmt chunk whose content begins at offset at of the file. 16 bytes are the plain
// form, 18 and more have an extension whose size must fit, 40 are extensible.
func readFmt(b []byte, at int) (*fmtChunk, *Error) {
	if len(b) < 16 {
		return nil, fault(Malformed, at, hintResave, "the fmt chunk has %d bytes, at least 16 are needed", len(b))
	}
	tag := binary.LittleEndian.Uint16(b)
	channels := int(binary.LittleEndian.Uint16(b[2:]))
	rate := binary.LittleEndian.Uint32(b[4:])
	byteRate := binary.LittleEndian.Uint32(b[8:])
	align := int(binary.LittleEndian.Uint16(b[12:]))
	bits := int(binary.LittleEndian.Uint16(b[14:]))
	if len(b) >= 18 {
		if ext := int(binary.LittleEndian.Uint16(b[16:])); ext > len(b)-18 {
			return nil, fault(Malformed, at+16, hintResave, "the fmt chunk claims an extension of %d bytes and has %d", ext, len(b)-18)
		}
	}
	extensible := tag == tagExtensible
	if extensible {
		var err *Error
		if tag, err = subFormat(b, at, bits); err != nil {
			return nil, err
		}
	}
	f := Format{Rate: int(rate), Channels: channels, Bits: bits, Extensible: extensible}
	switch tag {
	case tagPCM:
		f.Coding = PCM
	case tagFloat:
		f.Coding = Float
	default:
		return nil, fault(Unsupported, at, hintConvert, "the audio is coded as %s; PCM and float are read", tagName(tag))
	}
	enc, ok := f.encoding()
	if !ok {
		return nil, fault(Unsupported, at+14, hintConvert, "%d-bit %s samples are not read: PCM has 8, 16, 24 or 32 bits, float 32 or 64", bits, f.Coding)
	}
	if channels < 1 || channels > MaxChannels {
		return nil, fault(Unsupported, at+2, hintConvert, "the file has %d channels; 1 to %d are read", channels, MaxChannels)
	}
	if rate < MinSourceRate || rate > MaxSourceRate {
		return nil, fault(Unsupported, at+4, hintConvert, "the sample rate is %d Hz; %d to %d Hz are read", rate, MinSourceRate, MaxSourceRate)
	}
	if want := channels * enc.Size(); align != want {
		return nil, fault(Malformed, at+12, hintResave, "the header contradicts itself: a frame of %d channels and %d bits has %d bytes, it says %d", channels, bits, want, align)
	}
	return &fmtChunk{format: f, enc: enc, align: align, byteRateWrong: uint64(byteRate) != uint64(rate)*uint64(align)}, nil
}

// subFormat finds the tag behind an extensible header.
func subFormat(b []byte, at, bits int) (uint16, *Error) {
	if len(b) < 40 || binary.LittleEndian.Uint16(b[16:]) < 22 {
		return 0, fault(Malformed, at, hintResave, "an extensible fmt chunk has 40 bytes, this one has %d", len(b))
	}
	if valid := int(binary.LittleEndian.Uint16(b[18:])); valid > bits {
		return 0, fault(Malformed, at+18, hintResave, "the header contradicts itself: %d valid bits in a sample of %d", valid, bits)
	}
	if !bytes.Equal(b[26:40], guidTail) {
		return 0, fault(Unsupported, at+24, hintConvert, "the audio is coded in a sub-format that is not known (%x)", b[24:40])
	}
	return binary.LittleEndian.Uint16(b[24:]), nil
}
