package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/internal/pipeline"
)

func TestRecordStatus(t *testing.T) {
	for _, c := range []struct {
		rec  pipeline.Record
		want status
	}{
		{pipeline.Record{Outcome: game.Reported{}}, statusDone},
		{pipeline.Record{Outcome: game.Reported{}, Halted: true}, statusDone},
		{pipeline.Record{Outcome: game.Refused{Reason: game.TooFar}}, statusRefused},
		{pipeline.Record{Outcome: game.Refused{Reason: game.Denied}}, statusDenied},
		{pipeline.Record{Outcome: game.Refused{Reason: game.Disarmed}, Halted: true}, statusCancelled},
		{pipeline.Record{Outcome: game.Cancelled{}}, statusCancelled},
		{pipeline.Record{Outcome: game.Unknown{}, Halted: true}, statusUnknown},
		{pipeline.Record{Decision: pipeline.Refusal{Reason: pipeline.NoSpeech}}, statusRefused},
		{pipeline.Record{Halted: true}, statusCancelled},
		{pipeline.Record{Fault: errors.New("native")}, statusFailed},
	} {
		if got := recordStatus(&c.rec); got != c.want {
			t.Errorf("%+v: %d, want %d", c.rec, got, c.want)
		}
	}
}

// With several utterances the status is the first of 5, 8, 1, 7, 6, 4, 3 that occurred.
func TestStatusOfSeveral(t *testing.T) {
	order := []status{5, 8, 1, 7, 6, 4, 3, 0}
	for i, a := range order {
		for _, b := range order[i:] {
			if got := a.and(b); got != a {
				t.Errorf("%d and %d give %d", a, b, got)
			}
			if got := b.and(a); got != a {
				t.Errorf("%d and %d give %d", b, a, got)
			}
		}
	}
}

func TestStatusOfErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want status
	}{
		{nil, statusDone},
		{errors.New("anything"), statusFailed},
		{fmt.Errorf("wrapped: %w", &evidence.StorageError{Op: "write", Path: "x", Err: syscall.ENOSPC}), statusUnwritten},
		{context.Canceled, statusCancelled},
		{usage("do", "what"), statusUsage},
		{opening(&game.OpenError{Reason: game.Denied}), statusDenied},
		{opening(&game.OpenError{Reason: game.Expired}), statusRefused},
		{opening(&game.OpenError{Reason: game.NotBound}), statusRefused},
		{opening(&game.OpenError{Reason: game.NotBound, Err: syscall.ECONNREFUSED}), statusUnreachable},
	} {
		if got := statusOf(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

// Whatever an error holds, a person sees two lines, and a terminal no control characters.
func TestComplaintsAreTwoLines(t *testing.T) {
	for _, err := range []error{
		errors.New("plain"), errors.Join(errors.New("one"), errors.New("two")), usage("a\nb", "c\r\nd\x1b[2Je"), errors.New("\u2028\u0085end"),
		&evidence.StorageError{Op: "write", Path: "x", Err: syscall.ENOSPC},
	} {
		var out strings.Builder
		(&program{err: &out}).complain(err)
		if strings.Count(out.String(), "\n") != 2 || !strings.Contains(out.String(), "\nnext: ") || strings.ContainsAny(out.String(), "\x1b\r\u2028\u0085") {
			t.Errorf("%q", out.String())
		}
	}
}
