// Package horizon speaks to the game's local control socket: typed requests out, checked
// replies in, and a closed projection between what the game says and what we keep.
package horizon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"blockworld-voice/internal/procgroup"
)

// ErrClosed says that the connection was closed, by us or because it can't be trusted any more.
var ErrClosed = errors.New("the control connection is closed")

// SendError is a fault of the connection. Sent says whether the request, or a part of
// it, may have reached the game: then its effect is not known.
type SendError struct {
	Sent bool
	Err  error
}

func (e *SendError) Error() string {
	if e.Sent {
		return "after the request was sent: " + e.Err.Error()
	}
	return "before the request was sent: " + e.Err.Error()
}

func (e *SendError) Unwrap() error { return e.Err }

// Client is one control connection. One line is in flight at a time; calls wait for
// each other. After a late, lost or malformed reply the connection is closed for good:
// a late answer must never be taken for the next one.
type Client struct {
	endpoint Endpoint
	conn     net.Conn
	in       *bufio.Reader

	mu     sync.Mutex // one line in flight
	token  bool       // a token was sent and nothing came since; guarded by mu
	closed sync.Once
	broken error // guarded by mu
}

// Dial connects, proves who is at the other end, and gives the token where one is
// needed. A zero want skips the proof: only for finding out whom to pin.
func Dial(ctx context.Context, e Endpoint, want procgroup.ID) (*Client, error) {
	conn, err := e.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach the game: %w", err)
	}
	c := &Client{endpoint: e, conn: conn, in: bufio.NewReaderSize(conn, 4096)}
	if want != (procgroup.ID{}) {
		if err := e.verifyPeer(conn, want); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	if e.path == "" {
		if err := c.sendToken(ctx); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// Over speaks over a connection that is there already, for labs and tests: nothing proves who is at its other end.
func Over(conn net.Conn) *Client {
	return &Client{conn: conn, in: bufio.NewReaderSize(conn, 4096)}
}

func (c *Client) sendToken(ctx context.Context) error {
	t, err := c.endpoint.readToken()
	if err != nil {
		return err
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(5 * time.Second)
	}
	_ = c.conn.SetWriteDeadline(deadline)
	if _, err := c.conn.Write([]byte(t + "\n")); err != nil {
		return fmt.Errorf("reach the game: %w", err)
	}
	c.token = true
	return nil
}

// Close closes the connection. It stops nothing in the game. It may be called while a
// request waits (that request then fails) and more than once.
func (c *Client) Close() error {
	var err error
	c.closed.Do(func() { err = c.conn.Close() })
	return err
}

// Ask sends one request and waits for its reply, at most for the time given and no
// longer than ctx. The error is a *ReplyError when the game answered with an error (also to
// the token: then nothing was sent) and a *SendError otherwise.
func (c *Client) Ask(ctx context.Context, r Request, wait time.Duration) (Reply, error) {
	line, err := Render(r)
	if err != nil {
		return Reply{}, &SendError{Err: err}
	}
	return c.Send(ctx, line, wait)
}

// Send is Ask for a line that was rendered before.
func (c *Client) Send(ctx context.Context, line Line, wait time.Duration) (Reply, error) {
	p, err := c.Post(ctx, line, wait)
	if err != nil {
		return Reply{}, err
	}
	return p.Await(ctx, wait)
}

// Pending is a line that was sent and not yet answered. Its connection is taken until
// Await has returned.
type Pending struct{ c *Client }

// Post sends a line and doesn't wait for its reply: Await must be called once.
func (c *Client) Post(ctx context.Context, line Line, wait time.Duration) (*Pending, error) {
	c.mu.Lock()
	if err := c.post(ctx, line, wait); err != nil {
		c.mu.Unlock()
		return nil, err
	}
	return &Pending{c}, nil
}

func (c *Client) post(ctx context.Context, line Line, wait time.Duration) error {
	if c.broken != nil {
		return &SendError{Err: c.broken}
	}
	if err := ctx.Err(); err != nil {
		return &SendError{Err: err}
	}
	if line == (Line{}) {
		return &SendError{Err: errors.New("an empty line")}
	}
	defer c.limit(ctx, wait)()
	if c.in.Buffered() > 0 || c.unasked() {
		if c.turnedAway() {
			_ = c.fail(false, ErrClosed)
			return &ReplyError{Kind: KindDenied, Token: true}
		}
		return c.fail(false, malformed("the game spoke without being asked, or closed"))
	}
	n, err := c.conn.Write([]byte(line.s + "\n"))
	if err != nil {
		if c.turnedAway() {
			_ = c.fail(false, ErrClosed)
			return &ReplyError{Kind: KindDenied, Token: true}
		}
		return c.fail(n > 0, why(ctx, err))
	}
	return nil
}

// turnedAway says whether the game answered a token with "denied". A right token is not
// answered, so this is the one line that may stand there unasked; no request was read then.
func (c *Client) turnedAway() bool {
	if !c.token {
		return false
	}
	raw, err := c.readLine()
	if err != nil {
		return false
	}
	var bad *ReplyError
	_, err = parseReply(raw)
	return errors.As(err, &bad) && bad.Kind == KindDenied
}

// Await waits for the reply. Its errors are those of Ask.
func (p *Pending) Await(ctx context.Context, wait time.Duration) (Reply, error) {
	c := p.c
	defer c.mu.Unlock()
	defer c.limit(ctx, wait)()
	raw, err := c.readLine()
	if err != nil {
		return Reply{}, c.fail(true, why(ctx, err))
	}
	rep, err := parseReply(raw)
	var bad *ReplyError
	switch {
	case err != nil && !errors.As(err, &bad):
		return Reply{}, c.fail(true, err)
	case c.in.Buffered() > 0:
		// More than the reply came with it: no telling which of the two was meant.
		return Reply{}, c.fail(true, malformed("more than one line for one request"))
	}
	first := c.token
	c.token = false
	if bad != nil {
		bad.Token = first && bad.Kind == KindDenied
		return Reply{}, bad
	}
	return rep, nil
}

// limit bounds what follows by the time given and by ctx. The returned function ends that.
func (c *Client) limit(ctx context.Context, wait time.Duration) func() {
	deadline := time.Now().Add(wait)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	_ = c.conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// Distrust closes the connection for good because a reply did not have the shape that
// its request calls for.
func (c *Client) Distrust(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fail(true, err)
}

// unasked looks, without waiting, for bytes (or the end) that stand in the connection
// before anything was asked.
func (c *Client) unasked() bool {
	sc, ok := c.conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	var one [1]byte
	var got error
	if err := raw.Control(func(fd uintptr) {
		_, _, got = unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	}); err != nil {
		return true
	}
	return !errors.Is(got, unix.EAGAIN)
}

func (c *Client) fail(sent bool, err error) error {
	c.broken = ErrClosed
	_ = c.Close()
	return &SendError{Sent: sent, Err: err}
}

func why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("no answer in time: %w", os.ErrDeadlineExceeded)
	}
	return err
}

// readLine reads up to a newline. It takes what a common line needs, at most 64 KiB more
// for a longer one, and MaxLine bytes once for one that is longer still. The line is its
// own: nothing that is read later changes it.
func (c *Client) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := c.in.ReadSlice('\n')
		switch n := len(line) + len(part); {
		case n > MaxLine+1:
			return nil, malformed("longer than %d bytes", MaxLine)
		case line == nil && err == nil: // whole, as nearly always
		case n > 64<<10 && cap(line) <= 64<<10:
			line = append(make([]byte, 0, MaxLine+1), line...)
		case line == nil:
			line = make([]byte, 0, 64<<10)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return nil, err
		}
	}
}
