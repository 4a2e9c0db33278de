package pcm

import "encoding/binary"

// WAVHeaderSize is the length of the header that WAV writes.
const WAVHeaderSize = 44

// Header is the plain 44-byte header of an integer PCM file with size bytes of samples.
func Header(rate, channels, bits, size int) [WAVHeaderSize]byte {
	var h [WAVHeaderSize]byte
	align := channels * ((bits + 7) / 8)
	copy(h[0:], "RIFF")
	binary.LittleEndian.PutUint32(h[4:], uint32(WAVHeaderSize-8+size+size%2))
	copy(h[8:], "WAVEfmt ")
	binary.LittleEndian.PutUint32(h[16:], 16)
	binary.LittleEndian.PutUint16(h[20:], 1)
	binary.LittleEndian.PutUint16(h[22:], uint16(channels))
	binary.LittleEndian.PutUint32(h[24:], uint32(rate))
	binary.LittleEndian.PutUint32(h[28:], uint32(rate*align))
	binary.LittleEndian.PutUint16(h[32:], uint16(align))
	binary.LittleEndian.PutUint16(h[34:], uint16(bits))
	copy(h[36:], "data")
	binary.LittleEndian.PutUint32(h[40:], uint32(size))
	return h
}

// WAV writes samples as a mono 16-bit file: the header of Header and nothing else around the data.
func WAV(samples []float32, rate int) []byte {
	h := Header(rate, 1, 16, 2*len(samples))
	out := make([]byte, len(h)+2*len(samples))
	copy(out, h[:])
	PutS16(out[len(h):], samples)
	return out
}

// PutS16 writes samples as s16 until either ends and returns how many.
func PutS16(dst []byte, samples []float32) int {
	n := min(len(dst)/2, len(samples))
	for i, v := range samples[:n] {
		binary.LittleEndian.PutUint16(dst[2*i:], uint16(ToS16(v)))
	}
	return n
}
