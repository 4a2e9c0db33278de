package main

import (
	"context"
	"sync"
	"time"

	"blockworld-voice/internal/pipeline"
	"blockworld-voice/internal/screen"
)

// askFor is how long a person has for an answer.
const askFor = 10 * time.Second

// question is a proposal that waits for a person's word.
type question struct {
	p      pipeline.Proposal
	until  time.Time
	reply  chan pipeline.Answer
	once   sync.Once
	speech chan *take // a take with a spoken answer
}

// Ask implements pipeline.Asker. It runs on the utterance's goroutine.
func (t *talk) Ask(ctx context.Context, p pipeline.Proposal) pipeline.Answer {
	q := &question{p: p, reply: make(chan pipeline.Answer, 1), speech: make(chan *take, 1)}
	t.send(q)
	// The question is heard while it can already be answered.
	play, hush := context.WithCancel(ctx)
	defer hush()
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		if t.replies != nil && p.Audio != nil {
			_, _ = t.replies.Play(play, p.Audio) // the question stands on the screen, too
		}
	}()
	said := heard
	limit := time.NewTimer(askFor + 30*time.Second)
	defer limit.Stop()
	for {
		select {
		case <-said:
			said = nil
			limit.Reset(askFor)
			q.begin(t)
		case a := <-q.reply:
			hush()
			<-heard
			return a
		case k := <-q.speech:
			hush()
			<-heard
			return t.spokenAnswer(ctx, k)
		case <-limit.C:
			return pipeline.Answer{Answered: pipeline.AnsweredNothing}
		case <-ctx.Done():
			hush()
			<-heard
			return pipeline.Answer{Answered: pipeline.AnsweredStop}
		}
	}
}

// asked is the moment from which the ten seconds run.
type asked struct{ q *question }

func (q *question) begin(t *talk) { t.send(asked{q}) }

// ask shows a question.
func (t *talk) ask(q *question) {
	t.asking = q
	q.until = time.Now().Add(askFor)
	t.view.State, t.view.Proposal, t.view.Left = screen.Asking, q.p.Command.String(), askFor
}

// tick counts the seconds.
func (q *question) tick(t *talk) { t.view.Left = max(0, time.Until(q.until)) }

// answer hands an answer over. The first one counts.
func (q *question) answer(t *talk, a pipeline.Answer) {
	q.once.Do(func() { q.reply <- a })
	t.asking = nil
	t.view.State, t.view.Stage = screen.Thinking, "taking the answer"
}

// record begins a take with a spoken answer.
func (q *question) record(t *talk, k *take) bool {
	begun := false
	q.once.Do(func() {
		q.speech <- k
		begun = true
	})
	if begun {
		t.asking = nil
		t.view.State = screen.Arming
	}
	return begun
}

func (q *question) giveUp() {
	q.once.Do(func() { q.reply <- pipeline.Answer{Answered: pipeline.AnsweredStop} })
}

// spokenAnswer records the talk key's take and listens for yes or no alone.
func (t *talk) spokenAnswer(ctx context.Context, k *take) pipeline.Answer {
	rec, err := t.record(ctx, k)
	a := pipeline.Answer{Answered: pipeline.AnsweredNo, By: "talk", At: k.at}
	if ctx.Err() != nil {
		a.Answered = pipeline.AnsweredStop
		return a
	}
	if err != nil || rec == nil || !rec.End.Whole() || len(rec.Samples) == 0 {
		a.Answered = pipeline.AnsweredNothing
		return a
	}
	a.WAV = rec.WAV()
	a.Answered = t.a.session.YesOrNo(ctx, a.WAV)
	return a
}
