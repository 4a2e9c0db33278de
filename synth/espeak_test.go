package synth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/lang"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func speak(t *testing.T, l lang.Language, text string) *Reply {
	t.Helper()
	r, err := (&Espeak{}).Speak(t.Context(), l, text)
	if err != nil {
		t.Fatalf("%s %q: %v", l, text, err)
	}
	return r
}

// contract: V8
func TestEveryWordingIsSpoken(t *testing.T) {
	e := &Espeak{}
	number := map[lang.Language]string{lang.SK: "mínus päť", lang.CS: "minus pět", lang.EN: "minus five"}
	for _, w := range Wordings() {
		p := Phrase{Key: w.Key}
		for range w.Key.Args() {
			p.Args = append(p.Args, number[w.Language])
		}
		text := Words(w.Language, p)
		r, err := e.Speak(t.Context(), w.Language, text)
		if err != nil {
			t.Errorf("%s %s: %v", w.Language, w.Key, err)
			continue
		}
		f := r.Facts
		if f.Engine != "espeak-ng" || f.EngineVersion == "" || f.Voice != DefaultVoices[w.Language] || f.Language != w.Language || f.Text != text ||
			f.TextSHA256 != digest.Of([]byte(text)) || f.SHA256 != digest.Of(r.Audio.WAV) || f.Size != len(r.Audio.WAV) || f.Seconds != r.Audio.Seconds || f.TookNS <= 0 {
			t.Errorf("%s %s: facts %+v", w.Language, w.Key, f)
		}
		if again, err := ReadAudio(r.Audio.WAV); err != nil || !bytes.Equal(again.WAV, r.Audio.WAV) {
			t.Errorf("%s %s: the WAV is not plain: %v", w.Language, w.Key, err)
		}
	}
}

// Numbers in words are spoken to their end: each further word makes the audio longer.
func TestLongNumbersAreNotCut(t *testing.T) {
	for l, words := range map[lang.Language][]string{
		lang.SK: {"dvanásťtisíc", "tristo", "štyridsaťpäť"},
		lang.CS: {"dvanáct tisíc", "tři sta", "čtyřicet pět"},
		lang.EN: {"twelve thousand", "three hundred", "forty-five"},
	} {
		last := 0.0
		for n := 1; n <= len(words); n++ {
			text := Words(l, Phrase{StateReported, []string{strings.Join(words[:n], " "), words[0], words[0]}})
			s := speak(t, l, text).Audio.Seconds
			if s < last+0.25 {
				t.Errorf("%q lasts %.2f s, one word less %.2f s", text, s, last)
			}
			last = s
		}
	}
	joined := speak(t, lang.SK, "dvanásťtisíc tristoštyridsaťpäť").Audio.Seconds
	if less := speak(t, lang.SK, "dvanásťtisíc").Audio.Seconds; joined < 1.5*less {
		t.Errorf("%.2f s against %.2f s", joined, less)
	}
}

// Each accent reaches the engine: a word without it sounds otherwise.
func TestAccentsAreSpoken(t *testing.T) {
	for l, pairs := range map[lang.Language][]string{
		lang.SK: {"ľad lad", "ťava tava", "kôň kon", "čas cas", "päť pet", "šesť sest", "žaba zaba", "mínus minus", "ďalej dalej", "býk bik"},
		lang.CS: {"řeka reka", "tři tri", "pět pet", "čas cas", "kůň kun", "ťava tava", "děti dety", "šest sest", "žába zaba"},
	} {
		for _, p := range pairs {
			with, without, _ := strings.Cut(p, " ")
			if l == lang.SK && with == "býk" {
				continue // y and i sound alike in Slovak; only the length differs, which "mínus" shows
			}
			if bytes.Equal(speak(t, l, with).Audio.WAV, speak(t, l, without).Audio.WAV) {
				t.Errorf("%s: %q sounds like %q", l, with, without)
			}
		}
	}
}

func TestTheSameTextGivesTheSameBytes(t *testing.T) {
	a, b := speak(t, lang.CS, "Zrušeno: nic nebylo odesláno."), speak(t, lang.CS, "Zrušeno: nic nebylo odesláno.")
	if a.Facts.SHA256 != b.Facts.SHA256 {
		t.Error("two runs differ")
	}
}

func problem(t *testing.T, what string, err error, want Problem) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Problem != want {
		t.Fatalf("%s: %v, wanted problem %d", what, err, want)
	}
	if e.Hint() == "" || len(e.Error()) > 600 || strings.ContainsAny(e.Error(), "\n\x1b") {
		t.Errorf("%s: %q / %q", what, e.Error(), e.Hint())
	}
	return e
}

func TestTextsThatAreNotSpoken(t *testing.T) {
	for _, text := range []string{"", "...", "10 64", "x 12345", "desať 5", strings.Repeat("a ", 300)} {
		_, err := (&Espeak{}).Speak(t.Context(), lang.SK, text)
		problem(t, text, err, TextRefused)
	}
}

func TestMissingEngineAndVoices(t *testing.T) {
	_, err := (&Espeak{Path: filepath.Join(t.TempDir(), "espeak-ng")}).Speak(t.Context(), lang.SK, "test")
	if e := problem(t, "no engine", err, EngineMissing); !strings.Contains(e.Hint(), "install espeak-ng") {
		t.Error(e.Hint())
	}
	for _, v := range []string{"no-such-voice", "-w", "--help", "/etc/passwd", "", "a b", "sk;x", "é", "sk+nope", "Slovakia"} {
		_, err := (&Espeak{Voices: map[lang.Language]string{lang.SK: v}}).Speak(t.Context(), lang.SK, "test")
		problem(t, v, err, VoiceMissing)
	}
	_, err = (&Espeak{}).Speak(t.Context(), lang.None, "test")
	problem(t, "no language", err, VoiceMissing)
	f, err := (&Espeak{}).Check(t.Context(), lang.SK)
	if err != nil || f.EngineVersion == "" {
		t.Errorf("%+v %v", f, err)
	}
}

// fake is an engine that answers --version and else does what the script says. The file $PIDS gets the ids of its processes.
func fake(t *testing.T, script string) (e *Espeak, pids string) {
	t.Helper()
	dir := t.TempDir()
	path, pids := filepath.Join(dir, "espeak-ng"), filepath.Join(dir, "pids")
	text := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'eSpeak NG text-to-speech: 9.9  Data at: x'; exit 0; fi\nif [ \"$1\" = --voices ]; then echo ' 5  sk  --/M  Slovak  zlw/sk'; exit 0; fi\nPIDS='%s'\nWAV='%s'\necho $$ >>\"$PIDS\"\n%s\n", pids, filepath.Join(dir, "wav"), script)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "wav"), wav(22050, tone(22050, 2, 0.5)), 0o600); err != nil {
		t.Fatal(err)
	}
	return &Espeak{Path: path}, pids
}

// gone fails the test when a process named in the file lives.
func gone(t *testing.T, pids string) {
	t.Helper()
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err := syscall.Kill(pid, 0); err == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("process %d lives", pid)
		}
	}
}

// contract: V9
func TestEnginesThatMisbehave(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   Problem
	}{
		"fails":             {`printf 'bad\033[31m thing\n' >&2; exit 3`, EngineFailed},
		"dies":              {`cat "$WAV"; kill -9 $$`, EngineFailed},
		"fails after audio": {`cat "$WAV"; exit 1`, EngineFailed},
		"silence":           {`head -c 44 "$WAV"; head -c 88200 /dev/zero`, AudioRefused},
		"nothing":           {`exit 0`, AudioRefused},
		"no wav":            {`echo hello`, AudioRefused},
		"cut file":          {`head -c 30000 "$WAV"`, AudioRefused},
		"endless audio":     {`cat "$WAV"; cat /dev/zero`, AudioRefused},
		"endless complaint": {`while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done >&2`, TimedOut},
		"hangs":             {`sleep 600`, TimedOut},
		"ignores SIGTERM":   {`trap '' TERM; sleep 600 & echo $! >>"$PIDS"; wait; sleep 600`, TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			e, pids := fake(t, c.script)
			e.Timeout = 5 * time.Second
			if c.want == TimedOut {
				e.Timeout = 300 * time.Millisecond
				e.version, e.names = "9.9", map[string]bool{"sk": true} // so that only the run itself is under the short timeout
			}
			_, err := e.Speak(t.Context(), lang.SK, "krátky text")
			problem(t, name, err, c.want)
			gone(t, pids)
		})
	}
}

// Audio that is far too short for the text, or stops within a sound, was cut off.
func TestCutAudioIsRefused(t *testing.T) {
	e, _ := fake(t, `cat "$WAV"`)
	if _, err := e.Speak(t.Context(), lang.SK, "krátky text"); err != nil {
		t.Fatal(err)
	}
	_, err := e.Speak(t.Context(), lang.SK, strings.Repeat("veľmi dlhý text ", 20))
	problem(t, "short", err, AudioRefused)
	samples := tone(22050, 2, 0.5)
	if err := os.WriteFile(filepath.Join(filepath.Dir(e.Path), "wav"), wav(22050, samples[:len(samples)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = e.Speak(t.Context(), lang.SK, "krátky text")
	problem(t, "within a sound", err, AudioRefused)
}

// A child that outlives the engine is ended with its group before Speak returns, and the audio is good.
func TestAChildThatStaysBehindIsRetired(t *testing.T) {
	e, pids := fake(t, `cat "$WAV"; sleep 600 >/dev/null 2>&1 </dev/null & echo $! >>"$PIDS"`)
	if _, err := e.Speak(t.Context(), lang.SK, "text"); err != nil {
		t.Fatal(err)
	}
	gone(t, pids)
}

// contract: V8
func TestCancellationRetiresTheGroup(t *testing.T) {
	e, pids := fake(t, `trap '' TERM; sleep 600 & echo $! >>"$PIDS"; echo ready >>"$PIDS.ready"; wait; sleep 600`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for {
			if _, err := os.Stat(pids + ".ready"); err == nil {
				cancel()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	_, err := e.Speak(ctx, lang.SK, "text")
	problem(t, "cancelled", err, Stopped)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	gone(t, pids)
	_, err = e.Speak(ctx, lang.SK, "text")
	problem(t, "cancelled before", err, Stopped)
}

// The text reaches the engine on stdin, whole and in UTF-8, and never as an argument.
func TestTheTextGoesThroughStdin(t *testing.T) {
	e, pids := fake(t, `printf '%s\n' "$*" >"$PIDS.args"; cat >"$PIDS.text"; cat "$WAV"`)
	const text = "Odmietnuté: číslo, ř ě ľ"
	if _, err := e.Speak(t.Context(), lang.SK, " "+text+"\x00"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(pids + ".text")
	if err != nil || string(got) != text {
		t.Errorf("the engine read %q (%v)", got, err)
	}
	args, err := os.ReadFile(pids + ".args")
	if err != nil || string(args) != "--stdin -b 1 -v sk --stdout\n" {
		t.Errorf("arguments %q (%v)", args, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	e := &Espeak{}
	errs := make(chan error)
	for i := range 6 {
		go func() {
			_, err := e.Speak(t.Context(), lang.All()[i%3], "test")
			errs <- err
		}()
	}
	for range 6 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkSpeak is one ordinary reply, process and checks together; BenchmarkEngine is the process alone.
func BenchmarkSpeak(b *testing.B) {
	e := &Espeak{}
	for b.Loop() {
		if _, err := e.Speak(b.Context(), lang.SK, "Hra hlási príchod do cieľa. Pohyb bol pozorovaný."); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEngine(b *testing.B) {
	for b.Loop() {
		c := exec.Command("espeak-ng", "--stdin", "-b", "1", "-v", "sk", "--stdout")
		c.Stdin = strings.NewReader("Hra hlási príchod do cieľa. Pohyb bol pozorovaný.")
		if _, err := c.Output(); err != nil {
			b.Fatal(err)
		}
	}
}
