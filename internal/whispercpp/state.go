package whispercpp

/*
#include "bwv_whisper.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"
)

// Item is one token at its position in one or more sequences. It sees the earlier
// positions of its lowest sequence and nothing else; one that belongs to several must
// have the same past in all of them.
type Item struct {
	Token, Pos int32
	Seqs       Seqs
}

// Seqs is a set of sequences, 0 … MaxSeq, as bits.
type Seqs uint64

// MaxSeq is the largest number of a sequence.
const MaxSeq = 62

// Seq is the set of one sequence.
func Seq(s int) Seqs { return 1 << s }

// Rows are the logits after each item of a batch. They live in the library's memory
// and are valid until the next call on the state.
type Rows struct {
	logits []float32
	lse    []float32
	vocab  int
}

// Len returns the number of rows.
func (r Rows) Len() int { return len(r.lse) }

// LogProb returns the logarithm of the true probability of t in row i: a softmax over
// the whole vocabulary, nothing masked.
func (r Rows) LogProb(i int, t Token) float32 { return r.logits[i*r.vocab+int(t)] - r.lse[i] }

// Row returns row i's logits and the logarithm of the sum of their exponentials.
func (r Rows) Row(i int) (logits []float32, lse float32) {
	return r.logits[i*r.vocab : (i+1)*r.vocab : (i+1)*r.vocab], r.lse[i]
}

// State holds one clip's encoding and the cached tokens of some sequences. One
// goroutine uses it at a time; only Abort may be called from another.
type State struct {
	m     *Model
	st    *C.bwv_state
	token []int32
	pos   []int32
	seqs  []uint64
	lse   []float32
}

// NewState makes a state with room for cells cached tokens, computing with threads threads.
func (m *Model) NewState(cells, threads int) (*State, error) {
	st := C.bwv_state_new(m.ctx, C.int(cells), C.int(threads))
	if st == nil {
		return nil, fmt.Errorf("%w: no state: %s", ErrNative, C.GoString(C.bwv_log_last()))
	}
	n := int(C.bwv_max_batch(st))
	return &State{m: m, st: st, token: make([]int32, n), pos: make([]int32, n), seqs: make([]uint64, n), lse: make([]float32, n)}, nil
}

// Close frees the state. It may be called twice.
func (s *State) Close() {
	if s.st != nil {
		C.bwv_state_free(s.st)
		s.st = nil
	}
}

// MaxBatch returns the largest number of items of one Decode.
func (s *State) MaxBatch() int { return len(s.token) }

// Abort makes the running call and every later one return ErrAborted until Resume.
func (s *State) Abort() { C.bwv_abort(s.st, 1) }

// Resume ends the effect of Abort.
func (s *State) Resume() { C.bwv_abort(s.st, 0) }

// Encode hears samples (16 kHz mono, at least one) with an audio context of actx
// positions, 1 … Model.AudioContext, and forgets every sequence.
func (s *State) Encode(samples []float32, actx int) error {
	if len(samples) == 0 {
		return fmt.Errorf("%w: no samples to encode", ErrNative)
	}
	rc := C.bwv_encode(s.st, (*C.float)(&samples[0]), C.int(len(samples)), C.int(actx))
	runtime.KeepAlive(samples)
	return s.err("encode", rc)
}

// Decode evaluates the items. Row i is what follows item first+i; with first equal to
// the number of items there are no rows, which is cheaper.
func (s *State) Decode(items []Item, first int) (Rows, error) {
	n := len(items)
	if n == 0 || first < 0 || first > n {
		return Rows{}, fmt.Errorf("%w: %d tokens to decode, rows from %d on", ErrNative, n, first)
	}
	if n > len(s.token) {
		return Rows{}, fmt.Errorf("decode %d tokens: %w", n, ErrNoRoom)
	}
	for i, it := range items {
		s.token[i], s.pos[i], s.seqs[i] = it.Token, it.Pos, uint64(it.Seqs)
	}
	var logits *C.float
	rc := C.bwv_decode(s.st, (*C.int32_t)(&s.token[0]), (*C.int32_t)(&s.pos[0]), (*C.uint64_t)(&s.seqs[0]), C.int(n), C.int(first), &logits, (*C.float)(&s.lse[0]))
	if err := s.err("decode", rc); err != nil || first == n {
		return Rows{}, err
	}
	rows := n - first
	return Rows{logits: unsafe.Slice((*float32)(unsafe.Pointer(logits)), rows*s.m.vocab), lse: s.lse[:rows], vocab: s.m.vocab}, nil
}

// Branch renumbers the sequences: 0 stays as it is, i+1 becomes a continuation of the
// sequence that was parents[i] before the call, all others are forgotten. With no
// parents only sequence 0 stays.
func (s *State) Branch(parents []int32) {
	var p *C.int32_t
	if len(parents) > 0 {
		p = (*C.int32_t)(&parents[0])
	}
	C.bwv_branch(s.st, p, C.int(len(parents)))
	runtime.KeepAlive(parents)
}

// Forget drops every sequence.
func (s *State) Forget() { C.bwv_forget(s.st) }

// Kept is a copy of cached tokens. Any number of states of one model may recall it; Close
// frees it.
type Kept struct {
	p *C.bwv_kept
	n int
}

// Len returns the number of tokens.
func (k *Kept) Len() int { return k.n }

// Close frees the copy. It may be called twice.
func (k *Kept) Close() {
	C.bwv_kept_free(k.p)
	k.p = nil
}

// Keep copies the n tokens of sequence 0. They must be all that is cached, decoded after
// Forget in the order of their positions 0 … n−1.
func (s *State) Keep(n int) (*Kept, error) {
	p := C.bwv_keep(s.st, C.int(n))
	if p == nil {
		return nil, fmt.Errorf("%w: the cache does not hold %d tokens of one sequence", ErrNative, n)
	}
	return &Kept{p: p, n: n}, nil
}

// Recall makes the kept tokens sequence 0 and forgets every other; the encoding stays. The
// state has as many cells as the one that kept them.
func (s *State) Recall(k *Kept) error { return s.err("recall", C.bwv_recall(s.st, k.p)) }

// Times returns how long the library has worked for this state.
func (s *State) Times() (encode, decode time.Duration) {
	var e, d C.int64_t
	C.bwv_times(s.st, &e, &d)
	return time.Duration(e) * time.Microsecond, time.Duration(d) * time.Microsecond
}

func (s *State) err(what string, rc C.int) error {
	switch rc {
	case C.BWV_OK:
		return nil
	case C.BWV_ABORTED:
		return fmt.Errorf("%s: %w", what, ErrAborted)
	case C.BWV_NO_ROOM:
		return fmt.Errorf("%s: %w", what, ErrNoRoom)
	}
	return fmt.Errorf("%s: %w: %s", what, ErrNative, C.GoString(C.bwv_log_last()))
}
