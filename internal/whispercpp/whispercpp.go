// Package whispercpp is the narrow way to the native speech engine: one model, some
// states, batches of tokens in, rows of logits out. The search, the grammar and every
// decision are elsewhere, in Go.
//
// The native unit in native/ holds the whole of the pinned whisper.cpp and a few
// functions of ours; it is linked in the place of the library that the official Go
// binding expects, so that binding works on the same context. Upgrade guide: the
// comment in scripts/native/pin.
package whispercpp

/*
#cgo CFLAGS: -I${SRCDIR}/../../build/native/include
#cgo LDFLAGS: -L${SRCDIR}/../../build/native/lib -lwhisper -lggml -lggml-cpu -lggml-base -lgomp -lm -lstdc++
#include <stdlib.h>
#include "bwv_whisper.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	whisper "github.com/ggerganov/whisper.cpp/bindings/go"
)

// Errors of a state. ErrAborted follows Abort; ErrNoRoom means that a batch or the
// cache is full; ErrNative wraps every other failure of the library.
var (
	ErrAborted = errors.New("speech engine: aborted")
	ErrNoRoom  = errors.New("speech engine: the batch or the cache is full")
	ErrNative  = errors.New("speech engine failed")
)

// Token is an index into the model's vocabulary.
type Token = int32

// Special tokens of a model.
type Special struct {
	EndOfText, StartOfTranscript, StartOfPrev, NoTimestamps, Transcribe, NoSpeech Token
}

// Model is an opened file of weights. It is read-only after Open: states of
// different goroutines may share it.
type Model struct {
	ctx     *C.struct_whisper_context
	bind    *whisper.Context
	special Special
	vocab   int
	actx    int
	tctx    int
}

var quiet = sync.OnceFunc(func() { C.bwv_log_quiet() })

// Open loads the ggml file at path. The caller closes the model after its states.
func Open(path string) (*Model, error) {
	quiet()
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	ctx := C.bwv_open(p)
	if ctx == nil {
		return nil, fmt.Errorf("%w: %s is not a model that it can load: %s", ErrNative, path, C.GoString(C.bwv_log_last()))
	}
	b := (*whisper.Context)(unsafe.Pointer(ctx))
	m := &Model{ctx: ctx, bind: b, vocab: b.Whisper_n_vocab(), actx: b.Whisper_n_audio_ctx(), tctx: b.Whisper_n_text_ctx()}
	m.special = Special{
		EndOfText:         Token(b.Whisper_token_eot()),
		StartOfTranscript: Token(b.Whisper_token_sot()),
		StartOfPrev:       Token(b.Whisper_token_prev()),
		NoTimestamps:      Token(b.Whisper_token_not()),
		Transcribe:        Token(b.Whisper_token_transcribe()),
		NoSpeech:          Token(b.Whisper_token_prev()) + 1,
	}
	return m, nil
}

// Close frees the weights. It may be called twice.
func (m *Model) Close() {
	if m.ctx != nil {
		C.bwv_close(m.ctx)
		m.ctx, m.bind = nil, nil
	}
}

// Special returns the tokens that are no text.
func (m *Model) Special() Special { return m.special }

// Vocab returns the number of tokens, the width of a row.
func (m *Model) Vocab() int { return m.vocab }

// AudioContext returns the encoder's longest context; 50 positions are a second.
func (m *Model) AudioContext() int { return m.actx }

// TextContext returns the number of positions of a sequence.
func (m *Model) TextContext() int { return m.tctx }

// Multilingual says whether the model knows languages besides English.
func (m *Model) Multilingual() bool { return m.bind.Whisper_is_multilingual() != 0 }

// Bytes returns the bytes of a text token.
func (m *Model) Bytes(t Token) string { return m.bind.Whisper_token_to_str(whisper.Token(t)) }

// Language returns the token of an ISO 639-1 code, or an error when the model lacks it.
func (m *Model) Language(code string) (Token, error) {
	id := m.bind.Whisper_lang_id(code)
	if id < 0 || !m.Multilingual() && code != "en" {
		return 0, fmt.Errorf("%w: the model has no language %q", ErrNative, code)
	}
	return Token(m.bind.Whisper_token_lang(id)), nil
}

// Tokenize splits text as the model's authors did. Empty text gives no tokens.
func (m *Model) Tokenize(text string) ([]Token, error) {
	if text == "" {
		return nil, nil
	}
	buf := make([]whisper.Token, len(text)+8)
	n, err := m.bind.Whisper_tokenize(text, buf)
	if err != nil {
		return nil, fmt.Errorf("%w: tokenize: %w", ErrNative, err)
	}
	out := make([]Token, n)
	for i := range out {
		out[i] = Token(buf[i])
	}
	return out, nil
}

// Version names the library and the instruction sets that it was built for.
func Version() string { return "whisper.cpp " + whisperVersion() }

func whisperVersion() string { return C.GoString(C.bwv_version()) }

// SystemInfo lists what the library uses of this machine.
func SystemInfo() string { return whisper.Whisper_print_system_info() }
