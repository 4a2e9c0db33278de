package lab

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
)

// message is what a hub and its clients tell each other.
type message struct {
	Seed  uint64  `json:"seed,omitempty"`
	Hills bool    `json:"hills,omitempty"`
	Cell  *[3]int `json:"cell,omitempty"`
	Block string  `json:"block,omitempty"`
	Name  string  `json:"name,omitempty"`
	Chat  string  `json:"chat,omitempty"`
}

// Hub is a lab server: it knows the world's seed and its changes, and passes changes and
// chat on to every client but their source.
type Hub struct {
	l     net.Listener
	name  string // "" is the listener's address
	seed  uint64
	hills bool

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	cells map[[3]int]string
	wg    sync.WaitGroup
}

// NewHub opens a server on a port of the loopback; 0 chooses one.
func NewHub(port int, seed uint64, hills bool) (*Hub, error) {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	h := &Hub{l: l, seed: seed, hills: hills, conns: map[net.Conn]struct{}{}, cells: map[[3]int]string{}}
	h.wg.Add(1)
	go h.accept()
	return h, nil
}

// Address is "127.0.0.1:PORT".
func (h *Hub) Address() string {
	if h.name != "" {
		return h.name
	}
	return h.l.Addr().String()
}

// Close ends the server and waits for its goroutines.
func (h *Hub) Close() {
	_ = h.l.Close()
	h.mu.Lock()
	for c := range h.conns {
		_ = c.Close()
	}
	h.mu.Unlock()
	h.wg.Wait()
}

func (h *Hub) accept() {
	defer h.wg.Done()
	for {
		c, err := h.l.Accept()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.conns[c] = struct{}{}
		ok := put(c, message{Seed: h.seed, Hills: h.hills})
		for at, b := range h.cells {
			ok = ok && put(c, message{Cell: &at, Block: b})
		}
		h.wg.Add(1)
		h.mu.Unlock()
		go h.listen(c)
	}
}

func (h *Hub) listen(c net.Conn) {
	defer h.wg.Done()
	for s := bufio.NewScanner(c); s.Scan(); {
		var m message
		if json.Unmarshal(s.Bytes(), &m) != nil {
			break
		}
		h.mu.Lock()
		if m.Cell != nil {
			h.cells[*m.Cell] = m.Block
		}
		for other := range h.conns {
			if other != c {
				put(other, m)
			}
		}
		h.mu.Unlock()
	}
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	_ = c.Close()
}

func put(c net.Conn, m message) bool {
	b, err := json.Marshal(m)
	if err != nil {
		return false
	}
	_, err = c.Write(append(b, '\n'))
	return err == nil
}

// Link is a client's place on a hub.
type Link struct {
	addr  string
	conn  net.Conn
	in    *bufio.Scanner
	seed  uint64
	hills bool
	up    atomic.Bool
	out   chan message
	wg    sync.WaitGroup
	once  sync.Once
	quit  chan struct{}
}

// Join joins the hub at an address.
func Join(addr string) (*Link, error) {
	c, err := net.Dial("tcp4", addr)
	if err != nil {
		return nil, err
	}
	l, err := enter(c, addr)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Link) greet() error {
	var m message
	if !l.in.Scan() || json.Unmarshal(l.in.Bytes(), &m) != nil {
		_ = l.conn.Close()
		return fmt.Errorf("%s is no lab server", l.addr)
	}
	l.seed, l.hills = m.Seed, m.Hills
	l.up.Store(true)
	return nil
}

// Address is the server's.
func (l *Link) Address() string { return l.addr }

// Up says whether the client is still joined.
func (l *Link) Up() bool { return l.up.Load() }

// Close leaves the server.
func (l *Link) Close() {
	l.once.Do(func() {
		l.up.Store(false)
		close(l.quit)
		_ = l.conn.Close()
	})
	l.wg.Wait()
}

// attach lets the game live in the server's world.
func (l *Link) attach(g *Game) {
	g.world = newWorld(l.seed, !l.hills)
	g.spawn()
	l.wg.Add(2)
	go func() {
		defer l.wg.Done()
		defer l.up.Store(false)
		for l.in.Scan() {
			var m message
			if json.Unmarshal(l.in.Bytes(), &m) != nil {
				return
			}
			g.mu.Lock()
			switch {
			case m.Cell != nil:
				g.world.set(cell{m.Cell[0], m.Cell[1], m.Cell[2]}, m.Block)
				g.note(EffectBlock, "", 0, m.Block)
			case m.Chat != "":
				g.events.add("chat", m.Chat)
			}
			g.mu.Unlock()
		}
	}()
	go func() {
		defer l.wg.Done()
		for {
			select {
			case m := <-l.out:
				put(l.conn, m)
			case <-l.quit:
				return
			}
		}
	}()
}

func (l *Link) send(m message) {
	select {
	case l.out <- m:
	default: // a server that doesn't read loses news, never stalls the game
	}
}

func (l *Link) block(c cell, name string) {
	l.send(message{Cell: &[3]int{c.x, c.y, c.z}, Block: name})
}

func (l *Link) say(name, text string) { l.send(message{Name: name, Chat: text}) }
