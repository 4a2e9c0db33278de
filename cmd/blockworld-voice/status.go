package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"

	"blockworld-voice/capture"
	"blockworld-voice/capture/recorder"
	"blockworld-voice/evidence"
	"blockworld-voice/game"
	"blockworld-voice/internal/pipeline"
	"blockworld-voice/models"
)

// status is the exit status. Scripts rely on the numbers.
type status int

const (
	statusDone        status = 0
	statusFailed      status = 1
	statusUsage       status = 2
	statusRefused     status = 3
	statusDenied      status = 4
	statusUnknown     status = 5
	statusCancelled   status = 6
	statusUnreachable status = 7
	statusUnwritten   status = 8
)

// statuses lists what the help says, in order of number.
var statuses = []struct {
	status status
	means  string
}{
	{statusDone, "done: the game reported every instruction"},
	{statusFailed, "a failure of this program"},
	{statusUsage, "wrong usage"},
	{statusRefused, "refused: nothing was sent"},
	{statusDenied, "denied: the game's No AI is on"},
	{statusUnknown, "unknown: something was sent and its effect is not known"},
	{statusCancelled, "cancelled"},
	{statusUnreachable, "the game or a device can't be reached"},
	{statusUnwritten, "the evidence could not be written"},
}

// urgency is the order in which one status stands for several utterances. A denial is a refusal with a reason of its own,
// so it comes before the others.
var urgency = []status{statusUnknown, statusUnwritten, statusFailed, statusUsage, statusUnreachable, statusCancelled, statusDenied, statusRefused, statusDone}

// and returns the more urgent of the two.
func (s status) and(t status) status {
	for _, u := range urgency {
		if s == u || t == u {
			return u
		}
	}
	return statusFailed
}

// problem is an error with the next step.
type problem struct {
	status status
	what   string
	next   string
	err    error
	reason string // the authority's, where it refused a session
}

func (e *problem) Error() string {
	if e.err == nil {
		return e.what
	}
	return e.what + ": " + e.err.Error()
}

func (e *problem) Unwrap() error { return e.err }
func (e *problem) Hint() string  { return e.next }

func usage(next, format string, args ...any) error {
	return &problem{status: statusUsage, what: fmt.Sprintf(format, args...), next: next}
}

// statusOf maps an error to the exit status, in this one place.
func statusOf(err error) status {
	var p *problem
	var root *evidence.RootError
	var mic *recorder.Error
	var m *models.Error
	switch {
	case err == nil:
		return statusDone
	case errors.As(err, &p):
		return p.status
	case errors.As(err, &m) && m.Misuse:
		return statusUsage
	case errors.As(err, &mic):
		return statusUnreachable
	case errors.Is(err, evidence.ErrStorage), errors.As(err, &root):
		return statusUnwritten
	case errors.Is(err, context.Canceled):
		return statusCancelled
	}
	return statusFailed
}

// recordStatus is the exit status of one utterance.
func recordStatus(r *pipeline.Record) status {
	if r.Fault != nil {
		return statusOf(r.Fault)
	}
	switch o := r.Outcome.(type) {
	case game.Reported:
		return statusDone
	case game.Refused:
		switch o.Reason {
		case game.Denied:
			return statusDenied
		case game.NotPermitted, game.OutOfBounds, game.TooFar, game.Budget, game.Expired, game.NotBound, game.Busy, game.Disarmed:
		}
	case game.Cancelled:
		return statusCancelled
	case game.Unknown:
		return statusUnknown
	}
	if r.Halted {
		return statusCancelled
	}
	return statusRefused
}

// complain prints an error as two lines: what is wrong, and what to do next.
func (p *program) complain(err error) {
	fmt.Fprintf(p.err, "blockworld-voice: %s\n", oneLine(err.Error()))
	fmt.Fprintf(p.err, "next: %s\n", oneLine(hint(err)))
}

func hint(err error) string {
	var h interface{ Hint() string }
	var m *models.Error
	var c *capture.Error
	var x *exec.Error
	switch {
	case errors.As(err, &h) && h.Hint() != "":
		return h.Hint()
	case errors.As(err, &m) && m.Hint != "":
		return m.Hint
	case errors.As(err, &c) && c.Hint != "":
		return c.Hint
	case errors.Is(err, context.Canceled):
		return "what was recorded up to here is kept; start again when you like"
	case errors.As(err, &x):
		return "see what is installed with: blockworld-voice doctor"
	case errors.Is(err, syscall.EPIPE):
		return "read all that is printed"
	case errors.Is(err, fs.ErrNotExist):
		return "check the path"
	case errors.Is(err, fs.ErrPermission):
		return "check who owns it and its mode"
	}
	return "see: blockworld-voice doctor"
}

// oneLine keeps what came from elsewhere from breaking the form, and controls away from a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
}
