package qualify

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"blockworld-voice/grammar"
	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
	"blockworld-voice/transcribe"
)

// ClipsFile is the name of the table of every clip in a run's folder.
const ClipsFile = "clips.tsv"

var columns = []string{
	"file", "condition", "language", "voice", "kind", "task", "expect", "text", "outcome", "why", "heard", "reading", "d", "gap", "witness_d",
	"encode_ms", "decode_ms", "total_ms", "sha256", "settings", "figures",
}

// Place is a clip under a condition.
type Place struct{ File, Condition string }

// Kept are the figures of an earlier run with the same settings, by place.
type Kept map[Place]KeptClip

// KeptClip is a row of an earlier run as it stands in the file.
type KeptClip struct {
	SHA256   digest.Digest
	Figures  Figures
	language string
	start    grammar.Start
	line     string
}

// of says whether the figures are of this label: the same recording, listened to for the same.
func (k KeptClip) of(l Label, now digest.Digest) bool {
	return k.SHA256 == now && k.language == l.Language.String() && k.start == l.Task.Start()
}

// Store is the table of clips of a run: it grows by a line a clip, so that a run that was stopped can go on.
type Store struct {
	path     string
	settings digest.Digest
	f        *os.File
	kept     Kept
}

// ErrOccupied is returned when the folder holds a run and nothing was said about resuming it.
var ErrOccupied = errors.New("the folder holds the clips of an earlier run")

// OpenStore makes the folder and the table. With resume, rows of the same settings are kept and the others are dropped.
func OpenStore(dir string, settings digest.Digest, resume bool) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &Store{path: filepath.Join(dir, ClipsFile), settings: settings, kept: Kept{}}
	data, err := os.ReadFile(s.path)
	switch {
	case err == nil && !resume:
		return nil, ErrOccupied
	case err == nil:
		s.kept = readKept(data, settings)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	var b strings.Builder
	b.WriteString(strings.Join(columns, "\t") + "\n")
	for _, line := range strings.Split(string(data), "\n") { // in the order in which they were measured
		if p, k, ok := readRow(line, settings); ok && s.kept[p].line == k.line {
			b.WriteString(line + "\n")
		}
	}
	if err := atomicfile.Write(s.path, []byte(b.String())); err != nil {
		return nil, err
	}
	if s.f, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	return s, nil
}

// Kept are the clips that need not be measured again.
func (s *Store) Kept() Kept { return s.kept }

// Append adds a clip. What was appended is there after the program's end, whatever ended it.
func (s *Store) Append(c *Clip, t transcribe.Thresholds) error {
	row, err := rowOf(c, t, s.settings)
	if err != nil {
		return err
	}
	_, err = s.f.WriteString(row)
	return err
}

// Finish writes the table anew, in the order of the clips and with the outcomes of these thresholds. Kept rows that
// are not among the clips stay behind them.
func (s *Store) Finish(clips []Clip, t transcribe.Thresholds) error {
	var b strings.Builder
	b.WriteString(strings.Join(columns, "\t") + "\n")
	in := map[Place]bool{}
	for i := range clips {
		row, err := rowOf(&clips[i], t, s.settings)
		if err != nil {
			return err
		}
		in[Place{clips[i].File, clips[i].Condition}] = true
		b.WriteString(row)
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(data), "\n") {
		if p, _, ok := readRow(line, s.settings); ok && !in[p] {
			b.WriteString(line + "\n")
		}
	}
	return atomicfile.Write(s.path, []byte(b.String()))
}

// Close ends the growing. It doesn't remove anything.
func (s *Store) Close() error { return s.f.Close() }

func rowOf(c *Clip, t transcribe.Thresholds, settings digest.Digest) (string, error) {
	outcome, why := c.Judge(t)
	var heard, d, gap, wd string
	if len(c.Readings) > 0 {
		_, conf := t.Decide(c.Readings, c.Languages, c.Witnesses)
		heard, d, gap = c.Readings[0].Text, fmt.Sprintf("%.3f", conf.D), fmt.Sprintf("%.3f", conf.Gap)
		if len(c.Readings) == 1 {
			gap = ""
		}
	}
	if len(c.Witnesses) > 0 {
		wd = fmt.Sprintf("%.3f", c.Witnesses[0].D)
	}
	figures, err := strictjson.Line(c.Figures)
	if err != nil {
		return "", err
	}
	ms := func(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e6) }
	cells := []string{
		c.File, c.Condition, c.Language.String(), c.Voice, c.Kind, c.Task.String(), c.Expect, c.Text, outcome.String(), why, heard, c.Best(), d, gap, wd,
		ms(c.EncodeNS), ms(c.DecodeNS), ms(c.TotalNS), c.SHA256.String(), settings.String(), string(figures),
	}
	for i, cell := range cells {
		cells[i] = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, cell)
	}
	return strings.Join(cells, "\t") + "\n", nil
}

// readKept reads the rows of a table. A row that is cut, changed or of other settings counts for nothing.
func readKept(data []byte, settings digest.Digest) Kept {
	out := Kept{}
	end := bytes.LastIndexByte(data, '\n')
	for _, line := range strings.Split(string(data[:end+1]), "\n") {
		if p, k, ok := readRow(line, settings); ok {
			out[p] = k
		}
	}
	return out
}

func readRow(line string, settings digest.Digest) (Place, KeptClip, bool) {
	cells := strings.Split(line, "\t")
	n := len(columns)
	if len(cells) != n || cells[n-2] != settings.String() {
		return Place{}, KeptClip{}, false
	}
	task := slices.Index(taskNames[:], cells[slices.Index(columns, "task")])
	if task < 0 {
		return Place{}, KeptClip{}, false
	}
	k := KeptClip{line: line, language: cells[slices.Index(columns, "language")], start: Task(task).Start()}
	var err error
	if k.SHA256, err = digest.Parse(cells[n-3]); err != nil {
		return Place{}, k, false
	}
	if err := json.Unmarshal([]byte(cells[n-1]), &k.Figures); err != nil {
		return Place{}, k, false
	}
	return Place{cells[0], cells[1]}, k, true
}
