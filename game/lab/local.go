package lab

import (
	"bufio"
	"net"
)

// NewLocalHub is a server in this process that is joined by pipes: it has a name and no port, and works under a clock
// that tests drive.
func NewLocalHub(address string, seed uint64, hills bool) *Hub {
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	h := &Hub{l: l, name: address, seed: seed, hills: hills, conns: map[net.Conn]struct{}{}, cells: map[[3]int]string{}}
	h.wg.Add(1)
	go h.accept()
	return h
}

// Join joins a local hub.
func (h *Hub) Join() (*Link, error) {
	l, ok := h.l.(*pipeListener)
	if !ok {
		return Join(h.Address())
	}
	mine, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
	case <-l.done:
		return nil, errPipeClosed
	}
	return enter(mine, h.Address())
}

// enter takes the server's greeting.
func enter(c net.Conn, addr string) (*Link, error) {
	l := &Link{addr: addr, conn: c, in: bufio.NewScanner(c), out: make(chan message, 256), quit: make(chan struct{})}
	return l, l.greet()
}
