package qualify

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"blockworld-voice/grammar"
	"blockworld-voice/internal/lang"
)

// Task is what a clip is for.
type Task uint8

const (
	Command     Task = iota // a whole command
	Coordinates             // three numbers without a verb, evaluation only
	Number                  // one number, evaluation only
	Other                   // other speech, which is to be refused
)

var taskNames = [...]string{Command: "command", Coordinates: "coords", Number: "number", Other: "refuse"}

// String returns the name that files use.
func (t Task) String() string { return taskNames[t] }

// Start is the sub-rule of the grammar that the task is decoded with.
func (t Task) Start() grammar.Start {
	switch t {
	case Coordinates:
		return grammar.StartCoordinates
	case Number:
		return grammar.StartNumber
	case Command, Other:
	}
	return grammar.StartCommand
}

// Label is one row of a manifest.
type Label struct {
	File     string // relative to the manifest's folder, with slashes
	Language lang.Language
	Expect   string // as it stands in the manifest
	Key      string // that the reading of a right clip has; "" for other speech
	Task     Task
	Text     string // what is said, "" when the manifest doesn't say
	Kind     string // of voice
	Voice    string
	Group    string // the kind of other speech: the folder, when it isn't the language's
}

// Manifest is the part of a corpus that can be judged.
type Manifest struct {
	Labels  []Label
	LeftOut int // rows that expect nothing
}

// ManifestError says what is wrong with a manifest and what to do about it.
type ManifestError struct {
	Line    int // 1-based, 0 for the whole
	Problem string
	next    string
}

func (e *ManifestError) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}

// Hint is the next step.
func (e *ManifestError) Hint() string { return e.next }

// MaxManifest is the largest manifest that is read, in bytes.
const MaxManifest = 64 << 20

// ReadManifest reads tab separated rows under a line of column names. Every problem is a *ManifestError.
func ReadManifest(data []byte) (Manifest, error) {
	var m Manifest
	if !utf8.Valid(data) {
		return m, &ManifestError{0, "it is no UTF-8 text", "save it as UTF-8 with tabs between the columns"}
	}
	lines := strings.Split(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\n")
	column := map[string]int{}
	width := 0
	seen := map[string]int{}
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		cells := strings.Split(line, "\t")
		if width == 0 {
			width = len(cells)
			for j, name := range cells {
				column[name] = j
			}
			for _, need := range []string{"file", "language", "expect"} {
				if _, ok := column[need]; !ok {
					return m, &ManifestError{i + 1, "there is no column " + need, "begin with a line of column names with tabs between them: file, language, expect, and text, kind, voice if they are known"}
				}
			}
			continue
		}
		if len(cells) != width {
			return m, &ManifestError{i + 1, fmt.Sprintf("it has %d cells, the first line names %d columns", len(cells), width), "put exactly one tab between two cells, also when one is empty"}
		}
		cell := func(name string) string {
			if j, ok := column[name]; ok {
				return cells[j]
			}
			return ""
		}
		l := Label{File: cell("file"), Expect: cell("expect"), Text: cell("text"), Kind: cell("kind"), Voice: cell("voice")}
		if !filepath.IsLocal(l.File) {
			return m, &ManifestError{i + 1, fmt.Sprintf("the file %q is no path below the manifest's folder", l.File), "name files relative to the manifest"}
		}
		if first, ok := seen[l.File]; ok {
			return m, &ManifestError{i + 1, fmt.Sprintf("the file %s stands in line %d already", l.File, first), "name each file once"}
		}
		seen[l.File] = i + 1
		var err error
		if l.Language, err = lang.Parse(cell("language")); err != nil {
			return m, &ManifestError{i + 1, err.Error(), "write sk, cs or en in the column language"}
		}
		if l.Expect == "" {
			m.LeftOut++
			continue
		}
		if l.Task, l.Key, err = readExpect(l.Expect); err != nil {
			return m, &ManifestError{i + 1, fmt.Sprintf("expect %q: %v", l.Expect, err), "write a canonical command (goto 10 64 -5, say TEXT, stop), refuse, coords X Y Z, or a number"}
		}
		l.Group = "other speech"
		if dir := path.Base(path.Dir(l.File)); dir != "." && dir != l.Language.String() {
			l.Group = dir
		}
		m.Labels = append(m.Labels, l)
	}
	if len(m.Labels) == 0 {
		return m, &ManifestError{0, "no row expects anything", "label the clips in the column expect"}
	}
	return m, nil
}

// readExpect reads a label and returns the key of a right reading.
func readExpect(s string) (Task, string, error) {
	if s == "refuse" {
		return Other, "", nil
	}
	verb, rest, more := strings.Cut(s, " ")
	if verb == "coords" {
		_, err := readCoords(rest)
		return Coordinates, s, err
	}
	k, ok := grammar.ParseKind(verb)
	if !ok {
		c, err := readCoord(s)
		if err != nil {
			return Number, "", errors.New("it is none of the four forms")
		}
		return Number, c.String(), nil
	}
	if k == grammar.KindSay {
		if err := grammar.CheckText(rest); err != nil {
			return Command, "", err
		}
		return Command, grammar.Key(grammar.Say{Text: rest}), nil
	}
	if k == grammar.KindGoTo || k == grammar.KindLookAt {
		_, err := readCoords(rest)
		return Command, s, err
	}
	if more {
		return Command, "", fmt.Errorf("nothing follows after %s", verb)
	}
	return Command, s, nil
}

func readCoords(s string) ([]grammar.Coord, error) {
	var out []grammar.Coord
	for _, n := range strings.Split(s, " ") {
		c, err := readCoord(n)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if len(out) != 3 {
		return nil, fmt.Errorf("three numbers are needed, these are %d", len(out))
	}
	return out, nil
}

// readCoord reads a number in its canonical form.
func readCoord(s string) (grammar.Coord, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.Abs(x) > grammar.MaxCoord.Float() {
		return 0, fmt.Errorf("%q is no coordinate", s)
	}
	c := grammar.Coord(math.Round(100 * x))
	if c.String() != s {
		return 0, fmt.Errorf("%q is not the shortest form of %s", s, c)
	}
	return c, nil
}

// coordsOf are the numbers of a key: three, one, or none.
func coordsOf(key string) []grammar.Coord {
	verb, rest, _ := strings.Cut(key, " ")
	if slices.Contains([]string{"coords", grammar.KindGoTo.String(), grammar.KindLookAt.String()}, verb) {
		if cs, err := readCoords(rest); err == nil {
			return cs
		}
		return nil
	}
	if c, err := readCoord(key); err == nil {
		return []grammar.Coord{c}
	}
	return nil
}

// intent is the verb of a key; for what has none, the task's name.
func intent(key string, t Task) string {
	switch t {
	case Coordinates, Number:
		return t.String()
	case Command, Other:
	}
	verb, _, _ := strings.Cut(key, " ")
	return verb
}
