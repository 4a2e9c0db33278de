package evidence

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"blockworld-voice/internal/strictjson"
)

// View is everything that an utterance's folder tells.
type View struct {
	Schema int    `json:"schema"`
	Info   Info   `json:"summary"`
	Course string `json:"course"`
	Contents
}

// Contents is what lies in a folder of evidence, and whether it is as it was written.
type Contents struct {
	Files     []ViewFile                `json:"files"`
	Documents map[string]jsontext.Value `json:"documents"` // the JSON artefacts by relative name
	Logs      map[string][]string       `json:"logs"`      // whole lines by relative name, the last 200
	Problems  []Problem                 `json:"problems"`  // what Verify says of this folder
}

// ViewFile is a file as it is on the disk now.
type ViewFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

const showLines = 200

// Show reads one utterance's folder, sealed or not, and verifies it. It changes nothing.
func Show(dir string) (*View, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	sid, err := ParseSessionID(filepath.Base(filepath.Dir(dir)))
	if err != nil {
		return nil, fmt.Errorf("not in a session: %w", err)
	}
	id, err := ParseUtteranceID(filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	rep, err := Verify(dir)
	if err != nil {
		return nil, err
	}
	v := &View{Schema: Schema}
	v.Info = utteranceInfo(dir, sid, id, running(filepath.Join(filepath.Dir(dir), sessionName)))
	v.Course = v.Info.State.Describe()
	t, err := scan(dir, func(Kind, string, string) {})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	v.Contents = contents(dir, t, rep.Problems)
	return v, nil
}

// contents reads the files of a folder that was scanned.
func contents(dir string, t *tree, problems []Problem) Contents {
	c := Contents{Files: []ViewFile{}, Documents: map[string]jsontext.Value{}, Logs: map[string][]string{}, Problems: problems}
	for name, size := range t.files {
		c.Files = append(c.Files, ViewFile{name, size})
		c.read(dir, name)
	}
	slices.SortFunc(c.Files, func(a, b ViewFile) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// read takes in a document or a log; what can't be read stands among the problems already.
func (c *Contents) read(dir, name string) {
	file := filepath.Join(dir, filepath.FromSlash(name))
	base := path.Base(name)
	switch path.Ext(name) {
	case ".json":
		if base == receiptName || base == startedName {
			return // it stands in the state
		}
		if data, err := readSmall(file); err == nil && jsontext.Value(data).IsValid() {
			c.Documents[name] = jsontext.Value(data)
		}
	case ".jsonl":
		f, _, err := openRegular(file)
		if err != nil {
			return
		}
		defer f.Close()
		lines := []string{}
		_ = eachLine(f, func(line []byte, whole bool) {
			if !whole {
				return
			}
			if len(lines) == showLines {
				lines = append(lines[:0], lines[1:]...)
			}
			lines = append(lines, string(line))
		})
		c.Logs[name] = lines
	}
}

// JSON returns the view as an indented document.
func (v *View) JSON() ([]byte, error) { return strictjson.Marshal(v) }

// WriteTo prints the view for people.
func (v *View) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s  %s\n", v.Info.Session, v.Info.ID, v.Info.Path)
	switch {
	case v.Info.State.Sealed:
		b.WriteString("sealed\n")
	case v.Info.State.Running:
		fmt.Fprintf(&b, "running: %s\n", v.Course)
	default:
		fmt.Fprintf(&b, "interrupted: %s\n", v.Course)
	}
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, plain(value))
		}
	}
	field("heard", v.Info.Text)
	field("understood", v.Info.Decision)
	field("outcome", v.Info.Outcome)
	for _, a := range v.Info.State.OpenAttempts {
		field("unknown", a+" has no outcome: the instruction was sent or about to be sent, and its effect is not known")
	}
	b.WriteString("\nstage       verdict    start ms      took ms       cpu ms\n")
	for _, s := range v.Info.State.Stages {
		r := s.Receipt
		if r == nil {
			fmt.Fprintf(&b, "%-11s %s\n", s.Stage, startedWords(s))
			continue
		}
		fmt.Fprintf(&b, "%-11s %-9s %10.3f   %10.3f   %10.3f", s.Stage, r.Verdict, ms(r.StartNS), ms(r.EndNS-r.StartNS), ms(r.CPUNS))
		if r.Reason != "" {
			fmt.Fprintf(&b, "   %s", plain(r.Reason))
		}
		b.WriteByte('\n')
	}
	v.Contents.print(&b)
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (c *Contents) print(b *strings.Builder) {
	b.WriteString("\n")
	for _, f := range c.Files {
		fmt.Fprintf(b, "%10d  %s\n", f.Size, f.Name)
	}
	for _, name := range sortedKeys(c.Documents) {
		fmt.Fprintf(b, "\n%s\n%s\n", name, plainLines(string(c.Documents[name])))
	}
	for _, name := range sortedKeys(c.Logs) {
		fmt.Fprintf(b, "\n%s\n%s\n", name, plainLines(strings.Join(c.Logs[name], "\n")))
	}
	b.WriteString("\n")
	if len(c.Problems) == 0 {
		b.WriteString("verified: every file is as it was written\n")
	}
	for _, p := range c.Problems {
		fmt.Fprintf(b, "%s\n", p)
	}
}

func startedWords(s StageState) string {
	if s.Mark == nil {
		return "started, no receipt"
	}
	return fmt.Sprintf("started at %s (%.3f ms), no receipt", s.Mark.WallStart.Format("2006-01-02 15:04:05.000Z"), ms(s.Mark.StartNS))
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// plainLines is plain for text of several lines.
func plainLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = plain(l)
	}
	return strings.Join(lines, "\n")
}

// Find returns the folder that a person means by name in the store at root: a path, a session, SESSION/UTTERANCE or SESSION/TASK.
func Find(root, name string) (string, error) {
	if fi, err := os.Lstat(name); err == nil && fi.IsDir() {
		return filepath.Abs(name)
	}
	session, utterance, deep := strings.Cut(strings.Trim(filepath.ToSlash(name), "/"), "/")
	sid, err := ParseSessionID(session)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, sid.String())
	if deep {
		if _, err := ParseTaskID(utterance); err != nil {
			if _, err := ParseUtteranceID(utterance); err != nil {
				return "", err
			}
		}
		dir = filepath.Join(dir, utterance)
	}
	if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() {
		return "", fmt.Errorf("there is no %s in %s", name, root)
	}
	return dir, nil
}
