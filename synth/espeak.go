package synth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"time"
	"unicode"

	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/procgroup"
)

// Espeak speaks with the espeak-ng program, one short process a text. Fields are set before the first call.
type Espeak struct {
	Path    string                   // of the program; "" looks for espeak-ng in PATH
	Voices  map[lang.Language]string // in place of DefaultVoices
	Timeout time.Duration            // of one text; 0 is 10 s

	mu      sync.Mutex
	version string
	names   map[string]bool // of its voices
}

// DefaultVoices are espeak-ng's own formant voices, which each of its packages brings along.
var DefaultVoices = map[lang.Language]string{lang.SK: "sk", lang.CS: "cs", lang.EN: "en-gb"}

const (
	espeakTimeout = 10 * time.Second
	maxStderr     = 2 << 10
	// secondsPerLetter is far below any speech: audio that is shorter was cut off.
	secondsPerLetter = 0.03
	// maxTail is how loud the last 10 ms may be: louder audio stops within a sound.
	maxTail = 0.1
)

// Speak implements Voice. Numbers must stand in words: some builds cut off digits of five figures and more.
func (e *Espeak) Speak(ctx context.Context, l lang.Language, text string) (*Reply, error) {
	voice, err := e.voice(l)
	if err != nil {
		return nil, &Error{Problem: VoiceMissing, Voice: voice, Err: err}
	}
	text, err = Text(text)
	if err == nil && strings.ContainsFunc(text, unicode.IsNumber) {
		err = errors.New("numbers are spelled by the caller")
	}
	if err != nil {
		return nil, &Error{Problem: TextRefused, Voice: voice, Err: err}
	}
	version, names, err := e.about(ctx)
	if err != nil {
		return nil, err
	}
	if !names[voice] {
		return nil, &Error{Problem: VoiceMissing, Voice: voice}
	}
	start := time.Now()
	out, err := e.run(ctx, voice, text, "--stdin", "-b", "1", "-v", voice, "--stdout")
	if err != nil {
		return nil, err
	}
	a, err := ReadAudio(out)
	if err != nil {
		return nil, &Error{Problem: AudioRefused, Voice: voice, Err: err}
	}
	if least := secondsPerLetter * float64(countLetters(text)); a.Seconds < least || a.tail() > maxTail {
		return nil, &Error{Problem: AudioRefused, Voice: voice, Err: fmt.Errorf("%.2f s of audio were cut off", a.Seconds)}
	}
	f := facts(l, text, a, time.Since(start))
	f.Engine, f.EngineVersion, f.Voice = "espeak-ng", version, voice
	return &Reply{Audio: a, Facts: f}, nil
}

// Version asks the engine once which version it is.
func (e *Espeak) Version(ctx context.Context) (string, error) {
	v, _, err := e.about(ctx)
	return v, err
}

// about asks the engine once for its version and its voices. An engine that is asked for a voice which it doesn't
// have may take a similar name without a word ("no-such" is Norwegian to it), so the name is looked up first.
func (e *Espeak) about(ctx context.Context) (string, map[string]bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.version != "" {
		return e.version, e.names, nil
	}
	out, err := e.run(ctx, "", "", "--version")
	if err != nil {
		return "", nil, err
	}
	// "eSpeak NG text-to-speech: 1.51  Data at: …"
	_, rest, ok := strings.Cut(string(out), ":")
	words := strings.Fields(rest)
	if !ok || len(words) == 0 || len(words[0]) > 40 {
		return "", nil, &Error{Problem: EngineFailed, Err: errors.New("it doesn't tell its version")}
	}
	out, err = e.run(ctx, "", "", "--voices")
	if err != nil {
		return "", nil, err
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		// "Pty Language Age/Gender VoiceName File …": a voice is called by its language, its name or its file.
		if f := strings.Fields(line); len(f) >= 5 {
			names[f[1]], names[f[3]], names[f[4]], names[path.Base(f[4])] = true, true, true, true
		}
	}
	e.version, e.names = plainLine(words[0]), names
	return e.version, e.names, nil
}

// Check proves that the engine and the voice of l are there, by speaking one word to nobody.
func (e *Espeak) Check(ctx context.Context, l lang.Language) (Facts, error) {
	r, err := e.Speak(ctx, l, "test")
	if err != nil {
		return Facts{}, err
	}
	return r.Facts, nil
}

// voice returns the name of l's voice, which reaches the engine as an argument and so may not look like a flag.
func (e *Espeak) voice(l lang.Language) (string, error) {
	v, ok := e.Voices[l]
	if !ok {
		v, ok = DefaultVoices[l]
	}
	if !ok {
		return "", fmt.Errorf("no voice for the language %q", l)
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_/", r)
	}
	if v == "" || len(v) > 64 || v[0] == '-' || v[0] == '/' || strings.ContainsFunc(v, odd) {
		return "", fmt.Errorf("%q is not the name of a voice", v)
	}
	return v, nil
}

// run runs the engine in a process group of its own and returns what it wrote, when it ended well and its group is gone.
func (e *Espeak) run(ctx context.Context, voice, stdin string, args ...string) ([]byte, error) {
	fail := func(p Problem, err error) ([]byte, error) { return nil, &Error{Problem: p, Voice: voice, Err: err} }
	program := e.Path
	if program == "" {
		program = "espeak-ng"
	}
	program, err := exec.LookPath(program)
	if err != nil {
		return fail(EngineMissing, nil)
	}
	if ctx.Err() != nil {
		return fail(Stopped, context.Cause(ctx))
	}
	timeout := e.Timeout
	if timeout <= 0 {
		timeout = espeakTimeout
	}
	run, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stdout, stderr := &bounded{max: MaxBytes, full: cancel}, &bounded{max: maxStderr}
	p, err := procgroup.Start(run, procgroup.Spec{
		Path: program, Args: args, Env: engineEnv(), Grace: 100 * time.Millisecond,
		Stdin: strings.NewReader(stdin), Stdout: stdout, Stderr: stderr,
	})
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fail(EngineMissing, err)
		}
		return fail(EngineFailed, err)
	}
	waitErr := p.Wait()
	// The group is retired when Wait returns; Stop tells whether that was proved.
	if err := p.Stop(); err != nil {
		return fail(Unretired, err)
	}
	switch {
	case stdout.overflow():
		return fail(AudioRefused, fmt.Errorf("it wrote more than %d bytes", MaxBytes))
	case ctx.Err() != nil:
		return fail(Stopped, context.Cause(ctx))
	case run.Err() != nil:
		return fail(TimedOut, fmt.Errorf("no end after %v", timeout))
	case waitErr != nil:
		return nil, &Error{Problem: EngineFailed, Voice: voice, Stderr: plainLine(stderr.String()), Err: waitErr}
	}
	return stdout.buf.Bytes(), nil
}

// engineEnv is what the engine needs of our environment: where it finds its libraries and voices, and UTF-8.
func engineEnv() []string {
	env := []string{"LC_ALL=C.UTF-8"}
	for _, name := range []string{"PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "ESPEAK_DATA_PATH"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// bounded keeps the first max bytes; more than that ends the run, if it has a way to, or is dropped.
type bounded struct {
	max  int
	full func()

	mu   sync.Mutex
	buf  bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := b.max - b.buf.Len()
	if len(p) > room {
		b.over = true
		b.buf.Write(p[:room])
		if b.full != nil {
			b.full()
		}
		return len(p), nil
	}
	return b.buf.Write(p)
}

func (b *bounded) overflow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

func (b *bounded) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// plainLine makes what a program said one short printable line.
func plainLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' }), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}

func countLetters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
