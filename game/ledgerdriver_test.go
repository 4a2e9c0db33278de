package game

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"blockworld-voice/grammar"
)

// drive is what a ledger driver is told: one program that opens a session, tries commands
// and may be killed at a point.
type drive struct {
	Dir     string // of the lab: profile.json
	State   string
	Log     string // folder of attempts.jsonl, outcomes.jsonl, sessions.jsonl
	Seed    uint64
	First   int // number of the first command: makes every line unique
	Count   int
	Kill    Point // "" for none
	KillNth int
}

// keptAttempt and its kin are the driver's records.
type keptAttempt struct {
	Attempt
	Durable int64 `json:"durable"` // wall clock when it was on disk
}

type keptOutcome struct {
	Run     RunID       `json:"run"`
	Kind    OutcomeKind `json:"kind"`
	Reason  string      `json:"reason,omitempty"`
	Command int         `json:"command"`
}

type keptSession struct {
	Opened    bool    `json:"opened"`
	Reason    string  `json:"reason,omitempty"`
	Recovered []RunID `json:"recovered,omitempty"`
	Closed    bool    `json:"closed,omitempty"`
}

// book is a recorder on disk.
type book struct {
	dir string
	run RunID
}

func (b *book) put(name string, v any, sync bool) error {
	f, err := os.OpenFile(filepath.Join(b.dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	if sync {
		return f.Sync()
	}
	return nil
}

func (b *book) Attempt(a Attempt) error {
	b.run = a.Run
	if err := b.put("attempts.jsonl", keptAttempt{Attempt: a}, true); err != nil {
		return err
	}
	return b.put("durable.jsonl", map[string]any{"run": a.Run, "at": time.Now().UnixNano()}, false)
}

func (b *book) Event(Event) error { return nil }

// runDriver is the driver's program. It returns its exit status.
func runDriver(config string) int {
	var d drive
	if err := json.Unmarshal([]byte(config), &d); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	p, err := ReadProfile(filepath.Join(d.Dir, "profile.json"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	p.Binding.Timeout = ledgerTimeout
	p.Policy.ActionSeconds, p.Policy.MaxActions = ledgerAction.Seconds(), 1000
	b := &book{dir: d.Log}
	var mu sync.Mutex
	left := d.KillNth
	at := func(pt Point) {
		mu.Lock()
		defer mu.Unlock()
		if pt == d.Kill {
			if left--; left <= 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	s, err := Open(context.Background(), p, Options{StateDir: d.State, GameHome: d.Dir, At: at})
	var o *OpenError
	switch {
	case errors.As(err, &o):
		k := keptSession{Reason: o.Reason.String()}
		for _, r := range o.Recovered {
			k.Recovered = append(k.Recovered, r.Run)
		}
		if err := b.put("sessions.jsonl", k, false); err != nil {
			return 2
		}
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	k := keptSession{Opened: true}
	for _, r := range s.Recovered() {
		k.Recovered = append(k.Recovered, r.Run)
	}
	if err := b.put("sessions.jsonl", k, false); err != nil {
		return 2
	}
	rng := rand.New(rand.NewPCG(d.Seed, 77))
	for i := range d.Count {
		if !step(s, b, rng, d.First+i) {
			break
		}
	}
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if b.put("sessions.jsonl", keptSession{Closed: true}, false) != nil {
		return 2
	}
	return 0
}

// step tries one command, sometimes cancelled or stopped in the middle. It says whether
// the session can go on.
func step(s *Session, b *book, rng *rand.Rand, n int) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	after := time.Duration(rng.IntN(20_000)) * time.Microsecond
	switch rng.IntN(20) {
	case 0, 1:
		wg.Go(func() {
			time.Sleep(after)
			cancel()
		})
	case 2:
		wg.Go(func() {
			time.Sleep(after)
			s.Stop(context.Background())
		})
	}
	b.run = ""
	out := s.Do(ctx, command(rng, n), b)
	k := keptOutcome{Run: b.run, Kind: out.Kind(), Command: n}
	if r, ok := out.(Refused); ok {
		k.Reason = r.Reason.String()
	}
	wg.Wait()
	if err := b.put("outcomes.jsonl", k, false); err != nil {
		return false
	}
	ok, _ := s.Armed()
	return ok
}

// command makes the n-th command: its line is unlike every other's.
func command(rng *rand.Rand, n int) grammar.Command {
	x, z := grammar.Coord(n%1600-800), grammar.Coord(n/1600%1600-800)
	switch k := rng.IntN(20); {
	case k < 9:
		return grammar.GoTo{X: x, Y: 6400, Z: z}
	case k < 13:
		return grammar.LookAt{X: x, Y: 6500, Z: z}
	case k < 17:
		return grammar.Say{Text: fmt.Sprintf("povedz %d", n)}
	case k < 18:
		return grammar.StateQuery{}
	case k < 19:
		return grammar.StatusQuery{}
	}
	return grammar.GoTo{X: grammar.MaxCoord, Y: 6400, Z: z} // out of bounds
}
