// Package recorder records one take at a time in a process of its own.
//
// Serve is that process: it opens a microphone when it is told to and sends what the device delivers. Recorder is the
// other side: it starts the process in a process group of its own, watches it, and proves that it is gone when it
// doesn't do as it is told. A microphone is open only between a gesture and its end.
package recorder

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"

	"blockworld-voice/capture/mic"
)

// The frames. Capital letters come from the process with the microphone.
const (
	kindOpen  = 'o' // openDoc
	kindClose = 'c' // closeDoc
	kindList  = 'l'
	kindHello = 'H' // helloDoc
	kindInput = 'L' // listDoc
	kindReady = 'O' // openedDoc: the stream runs
	kindBlock = 'B' // see blockHeader
	kindEnded = 'C' // endedDoc: the stream is closed and every block was sent
	kindError = 'E' // errorDoc: a stream could not be opened, or the list not be made
)

type helloDoc struct {
	Schema  int    `json:"schema"`
	Library string `json:"library"`
}

type openDoc struct {
	Take   uint32 `json:"take"`
	Device string `json:"device"`
}

type closeDoc struct {
	Take uint32 `json:"take"`
}

type listDoc struct {
	Inputs []mic.Device `json:"inputs"`
}

type openedDoc struct {
	Take      uint32     `json:"take"`
	Device    mic.Device `json:"device"`
	Rate      int        `json:"rate"`
	LatencyNS int64      `json:"latency_ns"`
	Passed    []Passed   `json:"passed,omitempty"`
	StartedNS int64      `json:"started_ns"`
}

type endedDoc struct {
	Take    uint32 `json:"take"`
	Blocks  int    `json:"blocks"`
	Dropped int    `json:"dropped"` // blocks that found no room on the way to us
	Problem string `json:"problem,omitzero"`
}

type errorDoc struct {
	Take    uint32 `json:"take"`
	Missing bool   `json:"missing,omitzero"` // the device is not there
	Problem string `json:"problem"`
	Hint    string `json:"hint,omitzero"`
}

// Passed is a rate that was not used, and why.
type Passed struct {
	Rate int    `json:"rate"`
	Why  string `json:"why"`
}

// blockHeader is in front of a block's samples: take, number of the block, time of its callback, and whether samples
// before it were lost.
const blockHeader = 4 + 4 + 8 + 1

type block struct {
	take     uint32
	seq      uint32
	at       int64
	overflow bool
	samples  []int16
}

func (b block) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, b.take)
	dst = binary.LittleEndian.AppendUint32(dst, b.seq)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.at))
	if b.overflow {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	for _, v := range b.samples {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
	}
	return dst
}

var errBlock = errors.New("a block of another form")

func parseBlock(data []byte) (block, error) {
	if len(data) < blockHeader || (len(data)-blockHeader)%2 != 0 || data[16] > 1 {
		return block{}, errBlock
	}
	b := block{
		take: binary.LittleEndian.Uint32(data), seq: binary.LittleEndian.Uint32(data[4:]),
		at: int64(binary.LittleEndian.Uint64(data[8:])), overflow: data[16] == 1,
		samples: make([]int16, (len(data)-blockHeader)/2),
	}
	for i := range b.samples {
		b.samples[i] = int16(binary.LittleEndian.Uint16(data[blockHeader+2*i:]))
	}
	return b, nil
}

// monotonic is the clock that all processes of this machine share.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
