package evidence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blockworld-voice/internal/digest"
)

// Kind is what can be wrong with evidence. The zero value is no problem.
type Kind uint8

const (
	Changed      Kind = iota + 1 // other bytes than the manifest or a receipt says
	Missing                      // named, and not there
	Added                        // there, and not named
	Renamed                      // there under another name
	BrokenChain                  // a manifest is not the one that its successor or head.json names
	BadDocument                  // a document of ours that can't be read, or contradicts itself or its place
	BadReceipt                   // receipts out of order, times that run backwards, inputs that nothing wrote
	NewerSchema                  // written by a later version of this program
	Foreign                      // a folder or file that is no evidence
	Symlink                      // a symbolic link; never followed
	WrongMode                    // others can read it, or it is no longer private in another way
	ForeignOwner                 // it belongs to another user
	HardLink                     // a file that has another name too
	Unreadable                   // the operating system doesn't let us read it
	Unfinished                   // an utterance without a manifest: running, or interrupted
	Unanchored                   // the last manifest is newer than head.json: interrupted between the two
	Torn                         // of an unfinished utterance, a log ends within a line or a mark was cut
	Leftover                     // a temporary file of an interrupted write
)

var kindNames = [...]string{
	Changed: "changed", Missing: "missing", Added: "added", Renamed: "renamed", BrokenChain: "broken_chain",
	BadDocument: "bad_document", BadReceipt: "bad_receipt", NewerSchema: "newer_schema", Foreign: "foreign",
	Symlink: "symlink", WrongMode: "wrong_mode", ForeignOwner: "foreign_owner", HardLink: "hard_link", Unreadable: "unreadable", Unfinished: "unfinished",
	Unanchored: "unanchored", Torn: "torn", Leftover: "leftover",
}

// Kinds lists the closed set.
func Kinds() []Kind {
	ks := make([]Kind, 0, Leftover)
	for k := Changed; k <= Leftover; k++ {
		ks = append(ks, k)
	}
	return ks
}

// String returns the name as it stands in a report.
func (k Kind) String() string {
	if k >= Changed && k <= Leftover {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name.
func (k *Kind) UnmarshalText(b []byte) error {
	for _, v := range Kinds() {
		if kindNames[v] == string(b) {
			*k = v
			return nil
		}
	}
	return fmt.Errorf("unknown problem %q", b)
}

// Interruption says whether a sudden end of the program explains the problem. Every other kind is damage.
func (k Kind) Interruption() bool { return k >= Unfinished && k <= Leftover }

// Problem is one thing that is wrong, and where. Path is relative to the report's path, with slashes.
type Problem struct {
	Kind   Kind   `json:"kind"`
	Path   string `json:"path"`
	Detail string `json:"detail,omitzero"`
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s: %s", p.Kind, plain(p.Path))
	if p.Detail != "" {
		s += ": " + plain(p.Detail)
	}
	return s
}

// maxProblems bounds a report's memory; what is beyond is counted.
const maxProblems = 1000

// Scope is what Verify was pointed at: "store", "session", "utterance" or "task".
type Scope string

const (
	ScopeStore     Scope = "store"
	ScopeSession   Scope = "session"
	ScopeUtterance Scope = "utterance"
	ScopeTask      Scope = "task"
)

// Report is what Verify found. Problems are sorted by path and kind; Omitted counts those beyond the first 1000.
type Report struct {
	Schema     int           `json:"schema"`
	Path       string        `json:"path"`
	Scope      Scope         `json:"scope"`
	Sessions   int           `json:"sessions"`
	Running    int           `json:"running"`
	Utterances int           `json:"utterances"`
	Sealed     int           `json:"sealed"`
	Tasks      int           `json:"tasks,omitzero"`
	Files      int64         `json:"files"`
	Bytes      int64         `json:"bytes"`
	Head       digest.Digest `json:"head,omitzero"` // of the last sealed manifest, for a session
	Problems   []Problem     `json:"problems"`
	Omitted    int           `json:"omitted"`

	damaged bool
}

// OK says that nothing at all was found.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// Damaged says that something was found which a sudden end of the program can't explain.
func (r *Report) Damaged() bool { return r.damaged }

// Count returns how many of the kept problems are of kind k.
func (r *Report) Count(k Kind) int {
	n := 0
	for _, p := range r.Problems {
		if p.Kind == k {
			n++
		}
	}
	return n
}

func (r *Report) add(k Kind, path, detail string) {
	r.damaged = r.damaged || !k.Interruption()
	if len(r.Problems) == maxProblems {
		r.Omitted++
		return
	}
	r.Problems = append(r.Problems, Problem{k, path, detail})
}

func (r *Report) finish() {
	slices.SortFunc(r.Problems, func(a, b Problem) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return int(a.Kind) - int(b.Kind)
	})
}

// plain makes a string of unknown origin safe to show on a terminal.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}
