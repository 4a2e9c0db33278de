package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"time"

	"github.com/go-json-experiment/json"
)

// Effect is something that really happened in the world.
type Effect string

const (
	EffectWalk    Effect = "walk"     // the first displacement by a goto
	EffectWalkEnd Effect = "walk-end" // a walk that had begun is over
	EffectTurn    Effect = "turn"
	EffectSay     Effect = "say"
	EffectPlace   Effect = "place"
	EffectStop    Effect = "stop" // a running action was ended by a stop
	EffectDeath   Effect = "death"
	EffectRespawn Effect = "respawn"
	EffectBlock   Effect = "block" // changed by somebody else
)

// Entry is one line of the journal. After counts ticks since the line that caused it was
// taken, so that a journal says the same at any speed.
type Entry struct {
	Seq    int        `json:"seq"`
	Effect Effect     `json:"effect"`
	Line   string     `json:"line_sha256,omitempty"`
	After  int64      `json:"after"`
	Pos    [3]float64 `json:"pos"`
	Note   string     `json:"note,omitempty"`
}

// journal keeps entries and copies each as one line to w before the effect is visible to anybody.
type journal struct {
	entries []Entry
	w       io.Writer
}

func (j *journal) add(e Entry) {
	e.Seq = len(j.entries) + 1
	j.entries = append(j.entries, e)
	if j.w == nil {
		return
	}
	// On paper an entry also has the wall clock's time, to be held against an attempt's.
	if b, err := json.Marshal(struct {
		Entry
		At int64 `json:"at"`
	}{e, time.Now().UnixNano()}); err == nil {
		_, _ = j.w.Write(append(b, '\n'))
	}
}

// LineNote is one line of Options.Lines.
type LineNote struct {
	Line string `json:"line_sha256"`
	OK   bool   `json:"ok"` // false: the line came; true: ok was written, whole and unspoiled
}

func (g *Game) noteLine(n LineNote) {
	if g.opt.Lines == nil {
		return
	}
	if b, err := json.Marshal(n); err == nil {
		_, _ = g.opt.Lines.Write(append(b, '\n'))
	}
}

func lineDigest(line string) string {
	h := sha256.Sum256([]byte(line))
	return hex.EncodeToString(h[:])
}
