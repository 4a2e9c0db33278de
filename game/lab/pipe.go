package lab

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Pipe opens an endpoint that is reached by the returned function alone, in this process and without the kernel: so
// that a whole game can run under a clock that tests drive.
func (g *Game) Pipe() (*Server, func(context.Context) (net.Conn, error)) {
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	return g.serve(l, "", ""), l.dial
}

type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

var errPipeClosed = errors.New("the endpoint is closed")

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	mine, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return mine, nil
	case <-l.done:
		return nil, errPipeClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, errPipeClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
