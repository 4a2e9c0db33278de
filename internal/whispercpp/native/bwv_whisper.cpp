// This unit takes the place of the library's own: it holds the whole of the pinned
// src/whisper.cpp and, behind it, the functions of bwv_whisper.h, which need its
// internal batch, cache and graph. One copy of the engine is linked.
#include "whisper.cpp"

#include "bwv_whisper.h"
#include "ggml-cpu.h"
#include "ggml-impl.h"
#include "vec.h"

#include <atomic>
#include <mutex>

struct bwv_state {
    whisper_context * ctx     = nullptr;
    whisper_state   * st      = nullptr;
    int               threads = 1;
    std::atomic<bool> abort{false};
    std::vector<float> scratch;
    std::vector<uint8_t> tail = std::vector<uint8_t>(4*ggml_tensor_overhead());
    int64_t encode_us = 0;
    int64_t decode_us = 0;
};

static std::mutex  bwv_log_mutex;
static std::string bwv_log_line;

static void bwv_log(enum ggml_log_level level, const char * text, void *) {
    if (level != GGML_LOG_LEVEL_ERROR || text == nullptr) {
        return;
    }
    std::lock_guard<std::mutex> lock(bwv_log_mutex);
    bwv_log_line = text;
    while (!bwv_log_line.empty() && bwv_log_line.back() == '\n') {
        bwv_log_line.pop_back();
    }
}

void bwv_log_quiet(void) {
    whisper_log_set(bwv_log, nullptr);
    ggml_log_set(bwv_log, nullptr);
}

const char * bwv_log_last(void) {
    static thread_local std::string copy;
    std::lock_guard<std::mutex> lock(bwv_log_mutex);
    copy = bwv_log_line;
    return copy.c_str();
}

struct whisper_context * bwv_open(const char * path) {
    whisper_context_params p = whisper_context_default_params();
    p.use_gpu    = false;
    // With it on and a cut audio context the decoder reads padding that is not masked.
    p.flash_attn = false;
    return whisper_init_from_file_with_params_no_state(path, p);
}

void bwv_close(struct whisper_context * ctx) { whisper_free(ctx); }

static bool bwv_aborted(void * data) { return ((bwv_state *) data)->abort.load(std::memory_order_relaxed); }

bwv_state * bwv_state_new(struct whisper_context * ctx, int cells, int threads) {
    if (ctx == nullptr || cells < 1 || threads < 1) {
        return nullptr;
    }
    whisper_state * st = whisper_init_state(ctx);
    if (st == nullptr) {
        return nullptr;
    }
    whisper_kv_cache_free(st->kv_self);
    if (!whisper_kv_cache_init(st->kv_self, st->backends[0], ctx->itype, ctx->model.hparams.n_text_state,
                ctx->model.hparams.n_text_layer, GGML_PAD(cells, 256))) {
        whisper_free_state(st);
        return nullptr;
    }
    bwv_state * b = new bwv_state;
    b->ctx     = ctx;
    b->st      = st;
    b->threads = threads;
    for (auto & backend : st->backends) {
        if (ggml_backend_is_cpu(backend)) {
            ggml_backend_cpu_set_abort_callback(backend, bwv_aborted, b);
        }
    }
    return b;
}

void bwv_state_free(bwv_state * b) {
    if (b != nullptr) {
        whisper_free_state(b->st);
        delete b;
    }
}

void bwv_abort(bwv_state * b, int on) { b->abort.store(on != 0, std::memory_order_relaxed); }

int bwv_max_batch(const bwv_state * b) { return b->ctx->model.hparams.n_text_ctx; }

int bwv_encode(bwv_state * b, const float * pcm, int n, int audio_ctx) {
    if (pcm == nullptr || n < 1 || audio_ctx < 1 || audio_ctx > b->ctx->model.hparams.n_audio_ctx) {
        return BWV_BAD_ARG;
    }
    if (bwv_aborted(b)) {
        return BWV_ABORTED;
    }
    const int64_t t0 = ggml_time_us();
    whisper_kv_cache_clear(b->st->kv_self);
    b->st->exp_n_audio_ctx = audio_ctx;
    if (whisper_pcm_to_mel_with_state(b->ctx, b->st, pcm, n, b->threads) != 0) {
        return BWV_FAILED;
    }
    const bool ok = whisper_encode_internal(*b->ctx, *b->st, 0, b->threads, bwv_aborted, b);
    b->encode_us += ggml_time_us() - t0;
    return ok ? BWV_OK : bwv_aborted(b) ? BWV_ABORTED : BWV_FAILED;
}

// The decoder's graph ends in the product of the vocabulary with every position. Makes
// that product with the positions from `first` on instead; NULL when none is left.
static ggml_tensor * bwv_last_rows(ggml_context * ctx, ggml_cgraph * gf, int first) {
    ggml_tensor * all = ggml_graph_node(gf, -1);
    ggml_tensor * cur = all->src[1];
    if (first == 0) {
        return all;
    }
    gf->n_nodes--;
    if (first == cur->ne[1]) {
        return nullptr;
    }
    ggml_tensor * some = ggml_view_2d(ctx, cur, cur->ne[0], cur->ne[1] - first, cur->nb[1], first*cur->nb[1]);
    ggml_tensor * rows = ggml_mul_mat(ctx, all->src[0], some);
    ggml_build_forward_expand(gf, rows);
    return rows;
}

int bwv_decode(bwv_state * b, const int32_t * token, const int32_t * pos, const uint64_t * seqs,
               int n, int first, const float ** logits_out, float * lse) {
    whisper_state & st = *b->st;
    const auto & hp = b->ctx->model.hparams;
    if (n < 1 || first < 0 || first > n || token == nullptr || pos == nullptr || seqs == nullptr) {
        return BWV_BAD_ARG;
    }
    if (n > hp.n_text_ctx) {
        return BWV_NO_ROOM;
    }
    if (bwv_aborted(b)) {
        return BWV_ABORTED;
    }
    const int64_t t0 = ggml_time_us();
    whisper_batch & batch = st.batch;
    batch.n_tokens = n;
    for (int i = 0; i < n; ++i) {
        if (token[i] < 0 || token[i] >= hp.n_vocab || pos[i] < 0 || pos[i] >= hp.n_text_ctx || seqs[i] == 0 || seqs[i] >> 63 != 0) {
            return BWV_BAD_ARG;
        }
        batch.token   [i]    = token[i];
        batch.pos     [i]    = pos[i];
        batch.n_seq_id[i]    = 1;
        batch.seq_id  [i][0] = __builtin_ctzll(seqs[i]);
        batch.logits  [i]    = i >= first ? 1 : 0;
    }

    auto & kv = st.kv_self;
    if (!whisper_kv_cache_find_slot(kv, batch)) {
        return BWV_NO_ROOM;
    }
    const int head = kv.head;
    for (int i = 0; i < n; ++i) {
        for (uint64_t m = seqs[i]; m != 0; m &= m - 1) {
            kv.cells[head + i].seq_id.insert(__builtin_ctzll(m));
        }
    }
    // A multiple of 32 keeps the products with the cache on their fast paths; the cells
    // beyond are masked below.
    kv.n = std::min<uint32_t>(kv.size, GGML_PAD(whisper_kv_cache_cell_max(kv), 32));
    const int n_kv = kv.n;

    auto & sched = st.sched_decode.sched;
    ggml_cgraph * gf = whisper_build_graph_decoder(*b->ctx, st, batch, false, false);
    const ggml_init_params tail = { b->tail.size(), b->tail.data(), true };
    ggml_context * tail_ctx = ggml_init(tail);
    ggml_tensor * logits = bwv_last_rows(tail_ctx, gf, first);
    if (!ggml_backend_sched_alloc_graph(sched, gf)) {
        ggml_free(tail_ctx);
        return BWV_FAILED;
    }
    ggml_backend_tensor_set(ggml_graph_get_tensor(gf, "embd"), batch.token, 0, n*sizeof(int32_t));
    ggml_backend_tensor_set(ggml_graph_get_tensor(gf, "position"), batch.pos, 0, n*sizeof(int32_t));

    st.inp_mask.assign((size_t) n*n_kv, 0.0f);
    for (int j = 0; j < n; ++j) {
        float * row = st.inp_mask.data() + (size_t) j*n_kv;
        const whisper_seq_id own = batch.seq_id[j][0];
        for (int i = 0; i < n_kv; ++i) {
            if (kv.cells[i].pos < 0 || kv.cells[i].pos > pos[j] || !kv.cells[i].has_seq_id(own)) {
                row[i] = -INFINITY;
            }
        }
    }
    ggml_backend_tensor_set(ggml_graph_get_tensor(gf, "KQ_mask"), st.inp_mask.data(), 0, st.inp_mask.size()*sizeof(float));

    const bool ok = ggml_graph_compute_helper(sched, gf, b->threads, false);
    ggml_free(tail_ctx); // its tensors stand in b->tail
    if (!ok) {
        for (int i = 0; i < n; ++i) {
            kv.cells[head + i].pos = -1;
            kv.cells[head + i].seq_id.clear();
        }
        return bwv_aborted(b) ? BWV_ABORTED : BWV_FAILED;
    }
    if (first < n) {
        const float * data = (const float *) logits->data;
        b->scratch.resize(hp.n_vocab);
        for (int i = 0; i < n - first; ++i) {
            const float * row = data + (size_t) i*hp.n_vocab;
            float top = row[0];
            for (int k = 1; k < hp.n_vocab; ++k) {
                top = row[k] > top ? row[k] : top;
            }
            lse[i] = top + (float) log((double) ggml_vec_soft_max_f32(hp.n_vocab, b->scratch.data(), row, top));
        }
        *logits_out = data;
    }
    ggml_backend_sched_reset(sched);
    b->decode_us += ggml_time_us() - t0;
    return BWV_OK;
}

void bwv_branch(bwv_state * b, const int32_t * parent, int n) {
    auto & kv = b->st->kv_self;
    kv.head = 0;
    std::set<whisper_seq_id> next;
    for (auto & cell : kv.cells) {
        if (cell.pos < 0) {
            continue;
        }
        next.clear();
        if (cell.has_seq_id(0)) {
            next.insert(0);
        }
        for (int i = 0; i < n; ++i) {
            if (cell.has_seq_id(parent[i])) {
                next.insert(i + 1);
            }
        }
        cell.seq_id.swap(next);
        if (cell.seq_id.empty()) {
            cell.pos = -1;
        }
    }
}

void bwv_forget(bwv_state * b) { whisper_kv_cache_seq_rm(b->st->kv_self, -1, -1, -1); }

struct bwv_kept {
    int n = 0;
    uint32_t cells = 0;
    std::vector<uint8_t> k, v;
};

// The keys of a layer lie cell after cell, the values (without flash attention)
// dimension after dimension. Calls f(cache, offset, bytes) for each run of the first n cells.
template <typename F>
static void bwv_runs(const whisper_context & ctx, whisper_kv_cache & kv, int n, F f) {
    const size_t dim = ctx.model.hparams.n_text_state, layers = ctx.model.hparams.n_text_layer;
    const size_t ks = ggml_element_size(kv.k), vs = ggml_element_size(kv.v), cells = kv.size;
    for (size_t l = 0; l < layers; ++l) {
        f(true, l*cells*dim*ks, n*dim*ks);
        for (size_t d = 0; d < dim; ++d) {
            f(false, (l*dim + d)*cells*vs, n*vs);
        }
    }
}

bwv_kept * bwv_keep(const bwv_state * b, int n) {
    auto & kv = b->st->kv_self;
    if (n < 1 || n > (int) kv.size) {
        return nullptr;
    }
    for (int i = 0; i < (int) kv.size; ++i) {
        const auto & c = kv.cells[i];
        if (i < n ? c.pos != i || c.seq_id.count(0) == 0 : c.pos >= 0) {
            return nullptr;
        }
    }
    bwv_kept * kept = new (std::nothrow) bwv_kept;
    if (kept == nullptr) {
        return nullptr;
    }
    kept->n = n;
    kept->cells = kv.size;
    try {
        bwv_runs(*b->ctx, kv, n, [&](bool key, size_t at, size_t bytes) {
            const uint8_t * from = (const uint8_t *) (key ? kv.k : kv.v)->data + at;
            auto & to = key ? kept->k : kept->v;
            to.insert(to.end(), from, from + bytes);
        });
    } catch (const std::bad_alloc &) {
        delete kept;
        return nullptr;
    }
    return kept;
}

int bwv_recall(bwv_state * b, const bwv_kept * kept) {
    auto & kv = b->st->kv_self;
    if (kept == nullptr || kept->cells != kv.size) {
        return BWV_BAD_ARG;
    }
    kv.head = 0;
    for (int i = 0; i < (int) kv.size; ++i) {
        kv.cells[i].seq_id.clear();
        kv.cells[i].pos = -1;
        if (i < kept->n) {
            kv.cells[i].pos = i;
            kv.cells[i].seq_id.insert(0);
        }
    }
    size_t k = 0, v = 0;
    bwv_runs(*b->ctx, kv, kept->n, [&](bool key, size_t at, size_t bytes) {
        const auto & from = key ? kept->k : kept->v;
        size_t & off = key ? k : v;
        memcpy((uint8_t *) (key ? kv.k : kv.v)->data + at, from.data() + off, bytes);
        off += bytes;
    });
    return BWV_OK;
}

void bwv_kept_free(bwv_kept * kept) { delete kept; }

void bwv_times(const bwv_state * b, int64_t * encode_us, int64_t * decode_us) {
    *encode_us = b->encode_us;
    *decode_us = b->decode_us;
}

const char * bwv_version(void) { return whisper_version(); }
