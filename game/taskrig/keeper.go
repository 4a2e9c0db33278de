package taskrig

import (
	"fmt"
	"sync"

	"blockworld-voice/game"
	"blockworld-voice/game/behavior"
)

// Keeper keeps tasks in memory.
type Keeper struct {
	mu      sync.Mutex
	books   []*book
	ends    []behavior.End
	fail    error
	failRun error
	open    int
}

// Kept is what was kept of one task.
type Kept struct {
	Name     string
	Start    behavior.Start
	Records  []behavior.Record
	Outcomes []game.OutcomeRecord
	End      *behavior.End // nil while it goes on
}

// Dids is what its runs came to.
func (k Kept) Dids() []behavior.Did {
	var out []behavior.Did
	for _, r := range k.Records {
		out = append(out, r.Did)
	}
	return out
}

// Fail lets Begin fail, and the record of every run.
func (k *Keeper) Fail(begin, run error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fail, k.failRun = begin, run
}

// All is every task so far.
func (k *Keeper) All() []Kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []Kept
	for _, b := range k.books {
		c := b.Kept
		c.Records, c.Outcomes = append([]behavior.Record(nil), b.Records...), append([]game.OutcomeRecord(nil), b.Outcomes...)
		out = append(out, c)
	}
	return out
}

// Last is the newest task; none is an empty one.
func (k *Keeper) Last() Kept {
	all := k.All()
	if len(all) == 0 {
		return Kept{}
	}
	return all[len(all)-1]
}

// Ends are the tasks that were told to be over.
func (k *Keeper) Ends() []behavior.End {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]behavior.End(nil), k.ends...)
}

// Attempts are those of all tasks.
func (k *Keeper) Attempts() []game.Attempt {
	k.mu.Lock()
	books := append([]*book(nil), k.books...)
	k.mu.Unlock()
	var out []game.Attempt
	for _, b := range books {
		out = append(out, b.rec.List()...)
	}
	return out
}

func (k *Keeper) ended(e behavior.End) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ends = append(k.ends, e)
}

// Begin refuses a task while another's record isn't complete: a keeper's tasks are serial.
func (k *Keeper) Begin(s behavior.Start) (behavior.Book, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return nil, k.fail
	}
	if k.open > 0 {
		return nil, fmt.Errorf("%d tasks are open", k.open)
	}
	k.open++
	b := &book{k: k, Kept: Kept{Name: fmt.Sprintf("t%06d", len(k.books)+1), Start: s}}
	k.books = append(k.books, b)
	return b, nil
}

type book struct {
	k   *Keeper
	rec Recorder
	Kept
}

func (b *book) Name() string               { return b.Kept.Name }
func (b *book) Recorder(int) game.Recorder { return &b.rec }

func (b *book) Close(r behavior.Record, o game.OutcomeRecord) error {
	b.k.mu.Lock()
	defer b.k.mu.Unlock()
	if b.k.failRun != nil {
		return b.k.failRun
	}
	b.Records, b.Outcomes = append(b.Records, r), append(b.Outcomes, o)
	return nil
}

func (b *book) End(e behavior.End) error {
	b.k.mu.Lock()
	defer b.k.mu.Unlock()
	b.Kept.End = &e
	b.k.open--
	return nil
}

// Recorder keeps attempts in memory.
type Recorder struct {
	mu       sync.Mutex
	attempts []game.Attempt
	events   []game.Event
}

func (r *Recorder) Attempt(a game.Attempt) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = append(r.attempts, a)
	return nil
}

func (r *Recorder) Event(e game.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

// List is every attempt.
func (r *Recorder) List() []game.Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]game.Attempt(nil), r.attempts...)
}
