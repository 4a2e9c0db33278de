package pipeline

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"blockworld-voice/evidence"
	"blockworld-voice/internal/lang"
	"blockworld-voice/internal/testmodel"
)

// BenchmarkDecision times each clip from the file to the decision, and in the same run whisper-cli on the same clip,
// when BLOCKWORLD_WHISPER_CLI names its binary (and BLOCKWORLD_WHISPER_CLI_TUNED one with the flags of our library).
// "own" is what we spend beside the native encoder and decoder: files, search, grammar, evidence.
func BenchmarkDecision(b *testing.B) {
	dir := os.Getenv("BLOCKWORLD_SPEECH")
	if dir == "" {
		dir = filepath.Join("..", "..", "testdata", "clips")
	}
	all := corpus(b, dir)
	clis := map[string]string{"cli": os.Getenv("BLOCKWORLD_WHISPER_CLI"), "cli-tuned": os.Getenv("BLOCKWORLD_WHISPER_CLI_TUNED")}
	took := map[string][]time.Duration{}
	for _, l := range lang.All() {
		clips := slices.DeleteFunc(slices.Clone(all), func(c labelled) bool { return c.language != l || c.expect == "stop" })
		if len(clips) == 0 {
			continue
		}
		r := newReal(b, l)
		one := func(c labelled) (total, own time.Duration, asked bool) {
			rec, err := r.session.Do(b.Context(), WAV{c.file})
			if err != nil {
				b.Fatal(err)
			}
			total = time.Duration(rec.Trail[evidence.Grammar-1].EndNS - rec.Trail[evidence.Capture-1].StartNS)
			if rec.Transcript == nil {
				return total, total, false
			}
			return total, total - time.Duration(rec.Transcript.EncodeNS+rec.Transcript.DecodeNS), true
		}
		for _, c := range clips[:min(2, len(clips))] {
			one(c) // the model's pages and the automaton's first states
		}
		for range b.N {
			for _, c := range clips {
				total, own, asked := one(c)
				took["own"] = append(took["own"], own)
				if !asked {
					continue
				}
				took["ours"] = append(took["ours"], total)
				for name, path := range clis {
					if path != "" {
						took[name] = append(took[name], whisperCLI(b, path, c))
					}
				}
			}
		}
		r.end(b)
	}
	b.ReportMetric(0, "ns/op") // says nothing here
	for _, name := range []string{"ours", "own", "cli", "cli-tuned"} {
		if len(took[name]) == 0 {
			continue
		}
		b.ReportMetric(ms(quantile(took[name], 0.5)), name+"-p50-ms")
		b.ReportMetric(ms(quantile(took[name], 0.95)), name+"-p95-ms")
		if name == "cli" || name == "cli-tuned" {
			b.ReportMetric(ms(quantile(took["ours"], 0.5))/ms(quantile(took[name], 0.5)), "ours/"+name+"-p50")
		}
	}
	b.ReportMetric(100*ms(quantile(took["own"], 0.5))/ms(quantile(took["ours"], 0.5)), "own-share-%")
}

var cliTiming = regexp.MustCompile(`(load|total) time =\s*([0-9.]+) ms`)

// whisperCLI runs whisper-cli with its defaults and returns its own figure for the time without loading the model.
func whisperCLI(b *testing.B, path string, c labelled) time.Duration {
	b.Helper()
	cmd := exec.Command(path, "-m", testmodel.Base(b), "-l", c.language.String(), "-f", c.file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v\n%s", path, err, stderr.Bytes())
	}
	figures := map[string]float64{}
	for _, m := range cliTiming.FindAllSubmatch(stderr.Bytes(), -1) {
		v, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			b.Fatal(err)
		}
		figures[string(m[1])] = v
	}
	if len(figures) != 2 {
		b.Fatalf("%s printed no timings:\n%s", path, stderr.Bytes())
	}
	return time.Duration((figures["total"] - figures["load"]) * float64(time.Millisecond))
}

// quantile is the nearest-rank quantile.
func quantile(v []time.Duration, q float64) time.Duration {
	s := slices.Sorted(slices.Values(v))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// BenchmarkTyped is all of our own work for a typed instruction, with evidence, a real game and no voice.
func BenchmarkTyped(b *testing.B) {
	r := newReal(b, lang.EN)
	r.session.cfg.Voice = nil
	for b.Loop() {
		if _, err := r.session.Do(b.Context(), Typed{"state"}); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	r.end(b)
	if b.N > 1 {
		b.Log(fmt.Sprintf("%d utterances verified", b.N))
	}
}
