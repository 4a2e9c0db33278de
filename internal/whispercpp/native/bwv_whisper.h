// The part of the speech engine that its public header lacks: several text
// sequences in one batch, a cut audio context, true log-probabilities, abort.
// One bwv_state serves one thread at a time; a context may serve many states.
#ifndef BWV_WHISPER_H
#define BWV_WHISPER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct whisper_context;
typedef struct bwv_state bwv_state;
typedef struct bwv_kept  bwv_kept;

enum {
    BWV_OK       = 0,
    BWV_FAILED   = 1, // the library refused
    BWV_ABORTED  = 2, // bwv_abort was called
    BWV_NO_ROOM  = 3, // more tokens or cells than the state has
    BWV_BAD_ARG  = 4,
};

// Nothing of the library's log is printed; the last error line is kept.
void         bwv_log_quiet(void);
const char * bwv_log_last(void);

// Opens a model without a state and without flash attention. NULL when it is not a model.
struct whisper_context * bwv_open(const char * path);
void                     bwv_close(struct whisper_context * ctx);

// A state with room for `cells` cached tokens over all sequences. NULL on failure.
bwv_state * bwv_state_new (struct whisper_context * ctx, int cells, int threads);
void        bwv_state_free(bwv_state * st);

// From any thread: makes the running and every later call return BWV_ABORTED
// until the flag is cleared.
void bwv_abort(bwv_state * st, int on);

// Encodes 16 kHz mono samples with an audio context of `audio_ctx` positions
// (50 a second) and forgets every cached token.
int bwv_encode(bwv_state * st, const float * pcm, int n, int audio_ctx);

// Evaluates n tokens, each at its position in the sequences of its mask (bit s: sequence
// s, at most 63). A token sees the earlier positions of the lowest of its sequences; one
// that belongs to several must have the same past in all. The tokens from `first` on
// get a row each: *logits points at n-first rows of n_vocab logits that live until the
// next call, lse[i] is the logarithm of row i's sum of exponentials. With first == n
// there are no rows and the product with the vocabulary is left out.
int bwv_decode(bwv_state * st, const int32_t * token, const int32_t * pos, const uint64_t * seqs,
               int n, int first, const float ** logits, float * lse);

// Sequence 0 stays as it is. Sequence i+1 becomes a continuation of the sequence
// parent[i] (0 … , as numbered before the call); all other sequences are forgotten.
void bwv_branch(bwv_state * st, const int32_t * parent, int n);

// Forgets every sequence.
void bwv_forget(bwv_state * st);

// Copies the cached tokens of sequence 0, which must be all that is cached, at the
// positions 0 … n-1 in that order. NULL when they are not, or memory is short.
bwv_kept * bwv_keep(const bwv_state * st, int n);

// Makes the kept tokens sequence 0 of a state of the same model and number of cells; all
// others are forgotten. The encoding stays.
int  bwv_recall(bwv_state * st, const bwv_kept * kept);
void bwv_kept_free(bwv_kept * kept);

// Microseconds spent in the library: mel + encode, and decode.
void bwv_times(const bwv_state * st, int64_t * encode_us, int64_t * decode_us);

// Tokens of the longest batch that a state evaluates.
int bwv_max_batch(const bwv_state * st);

// The library's version.
const char * bwv_version(void);

#ifdef __cplusplus
}
#endif
#endif
