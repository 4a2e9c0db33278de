package evidence

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// StageState is what an utterance's folder says about one stage.
type StageState struct {
	Stage   Stage    `json:"stage"`
	Started bool     `json:"started"`
	Receipt *Receipt `json:"receipt,omitzero"` // nil while it has not ended
	Mark    *Mark    `json:"mark,omitzero"`    // of a stage that started and did not end
}

// State is what an utterance's folder says about its course.
type State struct {
	Sealed  bool         `json:"sealed"`
	Running bool         `json:"running"`
	Stages  []StageState `json:"stages"` // those that started, in order
	// OpenAttempts are attempts without an outcome: sent or about to be sent, and the effect is unknown.
	OpenAttempts []string `json:"open_attempts,omitzero"`
}

// readState reads the receipts and marks of the folder dir with contents t.
func readState(dir string, t *tree, report func(k Kind, path, detail string)) State {
	st := State{Sealed: t.manifest, Stages: []StageState{}}
	var tr trail
	sound := true
	for _, s := range Stages() {
		if !t.stages[s] {
			continue
		}
		ss := StageState{Stage: s, Started: true}
		name := path.Join(s.Folder(), receiptName)
		mark := path.Join(s.Folder(), startedName)
		_, ended := t.files[name]
		switch _, marked := t.files[mark]; {
		case ended:
			var r Receipt
			if err := loadDoc(dir, name, &r); err != nil {
				reportDoc(name, err, report)
				sound = false
				break
			}
			if r.Stage != s {
				report(BadReceipt, name, "it is the receipt of "+r.Stage.String())
				sound = false
				break
			}
			ss.Receipt = &r
			if !sound {
				break // what precedes is broken, so nothing can be said about the order
			}
			if err := tr.add(&r); err != nil {
				report(BadReceipt, name, err.Error())
				sound = false
			}
		case marked:
			var m Mark
			var newer *newerSchema
			switch err := loadDoc(dir, mark, &m); {
			case errors.As(err, &newer):
				report(NewerSchema, mark, err.Error())
			case err != nil:
				report(Torn, mark, err.Error()) // a mark is not fsynced, so a crash of the machine may cut it
			default:
				ss.Mark = &m
			}
		}
		st.Stages = append(st.Stages, ss)
	}
	for name := range t.files {
		dir, base := path.Split(name)
		if rest, ok := strings.CutPrefix(base, "attempt"); ok && strings.HasSuffix(rest, ".json") {
			if _, ok := t.files[dir+"outcome"+rest]; !ok {
				st.OpenAttempts = append(st.OpenAttempts, name)
			}
		}
	}
	slices.Sort(st.OpenAttempts)
	return st
}

// loadDoc reads one of our documents in an utterance's folder.
func loadDoc(dir, name string, v any) error {
	data, err := readSmall(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	return readDoc(data, v)
}

func reportDoc(name string, err error, report func(k Kind, path, detail string)) {
	var newer *newerSchema
	if errors.As(err, &newer) {
		report(NewerSchema, name, err.Error())
		return
	}
	report(BadDocument, name, bare(err).Error())
}

// Describe tells the course in words: "capture done, transcribe started, did not end".
func (st State) Describe() string {
	if len(st.Stages) == 0 {
		return "no stage started"
	}
	var parts []string
	for _, s := range st.Stages {
		switch {
		case s.Receipt != nil:
			parts = append(parts, fmt.Sprintf("%s %s", s.Stage, s.Receipt.Verdict))
		case st.Running:
			parts = append(parts, fmt.Sprintf("%s started, has not ended yet", s.Stage))
		default:
			parts = append(parts, fmt.Sprintf("%s started, did not end", s.Stage))
		}
	}
	if len(st.OpenAttempts) > 0 {
		parts = append(parts, "an instruction was sent or about to be sent: its effect is unknown")
	}
	return strings.Join(parts, ", ")
}
