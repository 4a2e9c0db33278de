package transcribe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/whispercpp"
)

// ErrClosed is returned by an engine after Close.
var ErrClosed = errors.New("the speech engine is closed")

// Config is what an engine is made of.
type Config struct {
	Path        string        // of the ggml file
	Name        string        // of the model, for people
	SHA256      digest.Digest // of the ggml file, as verified by the caller
	Threads     int           // 0: two
	Search      Search        // zero: DefaultSearch
	Thresholds  Thresholds    // zero: Provisional
	AudioMargin int           // encoder positions beyond the clip, 0: 32
	AudioFloor  int           // least encoder context, 0: 128
	Tempos      []float64     // of the witnesses; nil: DefaultTempos, empty: none
	CacheDir    string        // where the silence tables are kept, "": nowhere
}

// Engine understands one clip at a time. All of its methods may be called from any
// goroutine; requests wait for each other. One goroutine of its own owns the native
// context.
type Engine struct {
	cfg     Config
	jobs    chan job
	stop    chan struct{}
	stopped chan struct{}
	w       *worker
	kept    error // of keeping the tables, set before stopped is closed
}

type job struct {
	ctx  context.Context
	do   func(context.Context, *worker) error
	done chan error
}

// worker is what the owning goroutine has.
type worker struct {
	cfg     Config
	model   *whispercpp.Model
	vocab   *Vocabulary
	audio   *native
	silence *native
	hushed  bool // silence holds the silent encoding
	lex     map[Automaton]*lexicon
	tables  map[digest.Digest]*quietTable
	kept    map[string]*whispercpp.Kept // previous texts as read on silence
}

// DefaultTempos are the tempos at which an accepted reading is heard again.
func DefaultTempos() []float64 { return []float64{1.1} }

// cells is room for the prompt and for beams of 10 hypotheses of 64 tokens.
const cells = 1536

// New loads the model and starts the engine's goroutine. Close ends it.
func New(cfg Config) (*Engine, error) {
	if cfg.Threads == 0 {
		cfg.Threads = 2
	}
	if cfg.Search == (Search{}) {
		cfg.Search = DefaultSearch()
	}
	if cfg.Thresholds.Limit == nil {
		cfg.Thresholds = Provisional()
	}
	if cfg.AudioMargin == 0 {
		cfg.AudioMargin = 32
	}
	if cfg.AudioFloor == 0 {
		cfg.AudioFloor = 128
	}
	if cfg.Tempos == nil {
		cfg.Tempos = DefaultTempos()
	}
	model, err := whispercpp.Open(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("transcribe: %w", err)
	}
	w := &worker{cfg: cfg, model: model, lex: map[Automaton]*lexicon{}, tables: map[digest.Digest]*quietTable{}, kept: map[string]*whispercpp.Kept{}}
	if err := w.open(); err != nil {
		w.close()
		return nil, fmt.Errorf("transcribe: %w", err)
	}
	e := &Engine{cfg: cfg, jobs: make(chan job), stop: make(chan struct{}), stopped: make(chan struct{}), w: w}
	go e.run()
	return e, nil
}

func (w *worker) open() error {
	end := w.model.Special().EndOfText
	bytes := make([]string, end)
	for i := range bytes {
		bytes[i] = w.model.Bytes(Token(i))
	}
	w.vocab = NewVocabulary(bytes, end)
	for _, n := range []**native{&w.audio, &w.silence} {
		st, err := w.model.NewState(cells, w.cfg.Threads)
		if err != nil {
			return err
		}
		*n = &native{st: st, sot: w.model.Special().StartOfTranscript, recall: w.recall}
	}
	return nil
}

func (w *worker) close() {
	for _, n := range []*native{w.audio, w.silence} {
		if n != nil {
			n.st.Close()
		}
	}
	for _, k := range w.kept {
		k.Close()
	}
	w.model.Close()
}

func (e *Engine) run() {
	defer close(e.stopped)
	defer e.w.close()
	for {
		select {
		case <-e.stop:
			e.kept = e.w.keepTables(1)
			return
		case j := <-e.jobs:
			j.done <- e.serve(j)
		}
	}
}

// serve runs one job; the end of its context aborts the native library within one of
// its operators.
func (e *Engine) serve(j job) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	watched := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-j.ctx.Done():
			e.w.audio.st.Abort()
			e.w.silence.st.Abort()
		case <-ended:
		}
	}()
	err := j.do(j.ctx, e.w)
	close(ended)
	<-watched
	e.w.audio.st.Resume()
	e.w.silence.st.Resume()
	if errors.Is(err, whispercpp.ErrAborted) && j.ctx.Err() != nil {
		e.w.audio.prompt, e.w.silence.prompt = nil, nil
		return j.ctx.Err()
	}
	return err
}

// submit hands a job to the owner and waits until it has ended.
func (e *Engine) submit(ctx context.Context, do func(context.Context, *worker) error) error {
	j := job{ctx: ctx, do: do, done: make(chan error, 1)}
	select {
	case e.jobs <- j:
		return <-j.done
	case <-ctx.Done():
		return ctx.Err()
	case <-e.stopped:
		return ErrClosed
	}
}

// Close ends the engine's goroutine after the running request, frees the model and keeps
// the silence tables; its error says that they could not be kept, which costs time only.
// It may be called once more without effect, by the same goroutine.
func (e *Engine) Close() error {
	select {
	case <-e.stop:
	default:
		close(e.stop)
	}
	<-e.stopped
	return e.kept
}

// Transcribe understands one clip. Its error is ctx.Err() when ctx ended first, and
// wraps whispercpp's errors otherwise. A clip in which nothing is understood is no
// error: the verdict says so.
func (e *Engine) Transcribe(ctx context.Context, req Request) (*Transcript, error) {
	if len(req.Samples) == 0 {
		return nil, errors.New("transcribe: no samples")
	}
	if len(req.Lexicons) == 0 || req.Judge == nil {
		return nil, errors.New("transcribe: a request needs a lexicon and a judge")
	}
	var t *Transcript
	err := e.submit(ctx, func(ctx context.Context, w *worker) error {
		var err error
		t, err = w.transcribe(ctx, req)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("transcribe: %w", err)
	}
	return t, nil
}

func (w *worker) transcribe(ctx context.Context, req Request) (*Transcript, error) {
	actx := w.audioContext(len(req.Samples))
	e0, d0 := w.times()
	if err := w.audio.encode(req.Samples, actx); err != nil {
		return nil, err
	}
	heard, err := w.languages()
	if err != nil {
		return nil, err
	}
	lexicons := likely(req.Lexicons, heard)
	lists := map[lang.Language][]Scored{}
	for _, l := range lexicons {
		if lists[l.Language], err = w.search(ctx, l, req.Judge); err != nil {
			return nil, err
		}
	}
	var all [][]Scored
	for _, l := range lexicons {
		all = append(all, lists[l.Language])
	}
	rs := merge(all...)
	if len(rs) > 0 {
		rs[0].Pace = pace(rs[0].Text, rs[0].Language, req.Active)
	}
	verdict, conf := w.cfg.Thresholds.Decide(rs, heard, nil)
	if verdict == Understood {
		if verdict, conf, err = w.ask(ctx, req, rs, lists[rs[0].Language], heard); err != nil {
			return nil, err
		}
	}
	prompts := ""
	for _, l := range lexicons {
		prompts += l.Prompt + "\n"
	}
	e1, d1 := w.times()
	t := &Transcript{
		Verdict: verdict, Model: w.cfg.Name, ModelSHA256: w.cfg.SHA256, Engine: whispercpp.Version(),
		AudioSHA256: samplesDigest(req.Samples), Confidence: conf,
		Settings: Settings{
			Beam: w.cfg.Search.Beam, Subtract: w.cfg.Search.Subtract, AudioContext: actx, Threads: w.cfg.Threads,
			PromptSHA256: digest.Of([]byte(prompts)), Thresholds: w.cfg.Thresholds.Name, Tempos: w.cfg.Tempos,
		},
		Readings: rs[:min(len(rs), 2)],
		EncodeNS: int64(e1 - e0), DecodeNS: int64(d1 - d0),
	}
	for _, l := range req.Lexicons {
		t.Asked = append(t.Asked, l.Language)
	}
	if len(rs) > 0 {
		t.Text, t.Used = rs[0].Text, rs[0].Language
	}
	if verdict == NotUnderstood && req.FreeText {
		if t.FreeText, err = w.free(ctx, req, heard, len(conf.Witnesses) > 0); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// search finds the readings of one language, best first.
func (w *worker) search(ctx context.Context, l Lexicon, judge Judge) ([]Scored, error) {
	prompt, err := w.prompt(l)
	if err != nil {
		return nil, err
	}
	quiet, err := w.quietTable(prompt)
	if err != nil {
		return nil, err
	}
	cands, err := w.cfg.Search.run(ctx, w.lexicon(l.Automaton), prompt, w.audio, quiet)
	if err != nil {
		return nil, err
	}
	return gather(cands, l.Language, judge), nil
}

// ask lets the witnesses speak on the first of the readings, which has met the limits,
// until one doesn't confirm it. They compare it with the readings of its own language.
func (w *worker) ask(ctx context.Context, req Request, rs, own []Scored, heard map[lang.Language]float64) (Verdict, Confidence, error) {
	at := slices.IndexFunc(req.Lexicons, func(l Lexicon) bool { return l.Language == rs[0].Language })
	prompt, err := w.prompt(req.Lexicons[at])
	if err != nil {
		return NotUnderstood, Confidence{}, err
	}
	verdict, conf := w.cfg.Thresholds.Decide(rs, heard, nil)
	for _, tempo := range w.cfg.Tempos {
		if err := ctx.Err(); err != nil {
			return NotUnderstood, conf, err
		}
		wit, err := w.witness(req.Samples, tempo, prompt, own)
		if err != nil {
			return NotUnderstood, conf, err
		}
		verdict, conf = w.cfg.Thresholds.Decide(rs, heard, append(conf.Witnesses, wit))
		if verdict != Understood {
			break
		}
	}
	return verdict, conf, nil
}

// audioStep keeps the encoder's products on their fast paths.
const audioStep = 32

// audioContext is the encoder's context for a clip of n samples: 50 positions a second
// and a margin, a multiple of audioStep, between the floor and the model's own.
func (w *worker) audioContext(n int) int {
	c := n*50/16000 + w.cfg.AudioMargin
	c = max((c+audioStep-1)/audioStep*audioStep, w.cfg.AudioFloor)
	return min(c, w.model.AudioContext())
}

// silentPositions is the encoder's context for silence.
const silentPositions = 256

// hush encodes silence, once: what the model says of nothing hardly depends on how long
// the nothing is, and a table of it can be kept.
func (w *worker) hush() error {
	if w.hushed {
		return nil
	}
	if err := w.silence.encode(make([]float32, silentPositions*320), silentPositions); err != nil {
		return err
	}
	w.hushed = true
	return nil
}

// recall returns a previous text as the decoder reads it on silence.
func (w *worker) recall(previous []Token) (*whispercpp.Kept, error) {
	key := tokenKey(previous)
	if k, ok := w.kept[key]; ok {
		return k, nil
	}
	if err := w.hush(); err != nil {
		return nil, err
	}
	n := w.silence
	n.prompt = nil
	n.st.Forget()
	n.line(previous, 0, whispercpp.Seq(0))
	if _, err := n.st.Decode(n.items, len(n.items)); err != nil {
		return nil, err
	}
	k, err := n.st.Keep(len(previous))
	if err != nil {
		return nil, err
	}
	w.kept[key] = k
	return k, nil
}

// quietTable returns the table of a prompt, nil when nothing is subtracted.
func (w *worker) quietTable(prompt []Token) (Quiet, error) {
	if w.cfg.Search.Subtract == 0 {
		return nil, nil
	}
	key := w.tableKey(prompt)
	if t, ok := w.tables[key]; ok {
		return t, nil
	}
	t := &quietTable{rows: map[string]quietRow{}, eval: func(context []Token) (Rows, error) {
		if err := w.hush(); err != nil {
			return nil, err
		}
		return w.silence.after(prompt, context)
	}}
	if w.cfg.CacheDir != "" {
		if err := t.load(w.cfg.CacheDir, key); err != nil {
			return nil, err
		}
	}
	w.tables[key] = t
	return t, nil
}

// tableKey names all that a table's values depend on: the weights, the library and what
// it uses of the processor, the number of threads, the silent context and the prompt.
func (w *worker) tableKey(prompt []Token) digest.Digest {
	return digest.Of(fmt.Appendf(nil, "2\n%s\n%s\n%s\n%d %d %d %d\n%s", w.cfg.SHA256, whispercpp.Version(), whispercpp.SystemInfo(),
		w.cfg.Threads, silentPositions, headTokens, tailTokens, tokenKey(prompt)))
}

// keepTables writes the tables that have grown by at least least rows.
func (w *worker) keepTables(least int) error {
	if w.cfg.CacheDir == "" {
		return nil
	}
	var errs []error
	for key, t := range w.tables {
		if t.grew >= least {
			errs = append(errs, t.keep(w.cfg.CacheDir, key))
		}
	}
	return errors.Join(errs...)
}

func (w *worker) lexicon(a Automaton) *lexicon {
	l, ok := w.lex[a]
	if !ok {
		l = newLexicon(w.vocab, a, w.cfg.Search.Commas)
		w.lex[a] = l
	}
	return l
}

// prompt is the token sequence in front of the text: the vocabulary prompt as previous
// text, then the task. It takes at most half of the text context.
func (w *worker) prompt(l Lexicon) ([]Token, error) {
	sp := w.model.Special()
	var out []Token
	if l.Prompt != "" {
		words, err := w.model.Tokenize(" " + l.Prompt)
		if err != nil {
			return nil, err
		}
		if most := w.model.TextContext()/2 - 1; len(words) > most {
			words = words[len(words)-most:]
		}
		out = append(append(out, sp.StartOfPrev), words...)
	}
	out = append(out, sp.StartOfTranscript)
	if w.model.Multilingual() {
		t, err := w.model.Language(l.Language.String())
		if err != nil {
			return nil, err
		}
		out = append(out, t, sp.Transcribe)
	} else if l.Language != lang.EN {
		return nil, fmt.Errorf("the model %s knows English only", w.cfg.Name)
	}
	return append(out, sp.NoTimestamps), nil
}

func (w *worker) times() (encode, decode time.Duration) {
	e1, d1 := w.audio.st.Times()
	e2, d2 := w.silence.st.Times()
	return e1 + e2, d1 + d2
}

func samplesDigest(s []float32) digest.Digest {
	b := make([]byte, 0, 4*len(s))
	for _, x := range s {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return digest.Of(b)
}
