package lab

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"blockworld-voice/internal/sockpath"
)

const (
	maxRequest = 64 << 10
	// lateBy is how long the fault "late-reply" waits, by default.
	lateBy = 8 * time.Second
	// strikeAfter is when a fault that comes in the middle of an action comes, in ticks.
	strikeAfter = 5
	denial      = "No AI is on: this game can't be driven by a program"
)

// ErrNoAI says that the game's home forbids being driven.
var ErrNoAI = errors.New(denial)

// Server is an open control endpoint of a game.
type Server struct {
	g    *Game
	l    net.Listener
	path string // of the socket, "" for TCP
	tok  string

	// Late is what the fault "late-reply" waits; set it before the first request.
	Late time.Duration

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	quit   chan struct{}
	wg     sync.WaitGroup
}

// ListenUnix opens a Unix socket that only its owner can use. A socket that is in the
// way is removed, anything else is not.
func (g *Game) ListenUnix(path string) (*Server, error) {
	if NoAI(g.opt.Home) {
		return nil, ErrNoAI
	}
	if st, err := os.Lstat(path); err == nil {
		if st.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is in the way and no socket", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	short, release, err := sockpath.Short(path)
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return g.serve(l, path, ""), nil
}

// ListenTCP opens a port of the loopback (0 chooses one) and writes its token to tokenFile.
func (g *Game) ListenTCP(port int, tokenFile string) (*Server, error) {
	if NoAI(g.opt.Home) {
		return nil, ErrNoAI
	}
	var raw [16]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return nil, err
	}
	tok := hex.EncodeToString(raw[:])
	if err := os.WriteFile(tokenFile, []byte(tok+"\n"), 0o600); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	return g.serve(l, "", tok), nil
}

func (g *Game) serve(l net.Listener, path, tok string) *Server {
	s := &Server{g: g, l: l, path: path, tok: tok, Late: lateBy, conns: map[net.Conn]struct{}{}, quit: make(chan struct{})}
	s.wg.Add(1)
	go s.accept()
	if g.opt.Home != "" {
		s.wg.Add(1)
		go s.watchHome()
	}
	return s
}

// Endpoint is the form of a profile.
func (s *Server) Endpoint() string {
	if s.path != "" {
		return s.path
	}
	return "tcp:" + s.l.Addr().String()
}

// Done is closed when the endpoint is closed.
func (s *Server) Done() <-chan struct{} { return s.quit }

// Close closes the endpoint and every connection, and waits for their goroutines.
func (s *Server) Close() {
	s.shut()
	s.wg.Wait()
}

func (s *Server) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	_ = s.l.Close()
	for c := range s.conns {
		_ = c.Close()
	}
	if s.path != "" {
		_ = os.Remove(s.path)
	}
	close(s.quit) // last: who waits for it finds nobody who answers
}

func (s *Server) accept() {
	defer s.wg.Done()
	for {
		c, err := s.l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = c.Close()
			return
		}
		s.conns[c] = struct{}{}
		s.wg.Add(1)
		s.mu.Unlock()
		go s.talk(c)
	}
}

func (s *Server) talk(c net.Conn) {
	defer s.wg.Done()
	defer func() {
		_ = c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	in := bufio.NewReaderSize(c, maxRequest)
	if s.tok != "" {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if subtle.ConstantTimeCompare([]byte(strings.TrimSpace(line)), []byte(s.tok)) != 1 {
			_, _ = c.Write([]byte(errorReply("denied", "the token is wrong") + "\n"))
			return
		}
	}
	for {
		b, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		if !s.answer(c, strings.TrimRight(string(b), "\r\n")) {
			return
		}
	}
}

// answer carries out one line. It says whether the connection goes on.
func (s *Server) answer(c net.Conn, line string) bool {
	g := s.g
	word, _, _ := strings.Cut(line, " ")
	g.mu.Lock()
	hit := g.faults.strike(word)
	if poll, known := words[word]; known && !poll && word != "stop" {
		g.noteLine(LineNote{Line: lineDigest(line)})
	}
	switch {
	case hit[DisconnectBefore]:
		g.mu.Unlock()
		return false
	case hit[Busy]:
		g.mu.Unlock()
		return s.write(c, errorReply("busy", "another action is running; use: stop"), nil)
	case hit[Denied]:
		g.mu.Unlock()
		return s.write(c, errorReply("denied", denial), nil)
	case hit[StopIgnored]:
		g.mu.Unlock()
		return s.write(c, `{"ok":true,"stopped":"goto"}`, nil)
	}
	r := g.execute(line)
	g.happen(hit)
	g.mu.Unlock()
	if hit[Replaced] && g.opt.OnSwap != nil {
		g.opt.OnSwap()
	}
	if r.later != nil {
		select {
		case r.text = <-r.later:
		case <-s.quit:
			return false
		}
	}
	if hit[Killed] && g.opt.OnKill != nil {
		g.opt.OnKill()
	}
	if poll := words[word]; !poll && word != "stop" && strings.HasPrefix(r.text, `{"ok":true`) {
		g.noteLine(LineNote{Line: lineDigest(line), OK: true}) // before it is written: it may be read at once
	}
	return s.write(c, r.text, hit)
}

// happen makes the faults come true that change what the line does. g.mu is held.
func (g *Game) happen(hit map[Kind]bool) {
	a := g.act
	if hit[NoDisplacement] || hit[NoBlock] {
		if a != nil {
			a.noMove = true
		}
	}
	if hit[PersonInput] {
		g.later(func() { g.userInput() })
	}
	if hit[Death] {
		g.later(func() { g.hurt(maxHealth) })
	}
	if hit[DimensionMove] {
		g.later(func() { g.travel("minecraft:the_nether") })
	}
	if hit[WorldMove] {
		g.later(func() { g.label = "Another World"; g.events.add("world", g.label) })
	}
	if hit[BlockByOther] && a != nil && a.kind == "place" {
		g.world.set(a.block, "minecraft:cobblestone")
		g.note(EffectBlock, "", 0, "minecraft:cobblestone")
		a.moved = true // the target changed: the game takes that for success
	}
	if hit[Killed] && a != nil && g.opt.OnKill != nil {
		kill := g.opt.OnKill
		g.later(kill)
	}
	if hit[ClockJump] {
		for range 40 {
			g.advance()
		}
	}
}

// later calls f in the middle of the running action, or at once when there is none. g.mu
// is held, now and when f is called.
func (g *Game) later(f func()) {
	if g.act == nil {
		f()
		return
	}
	at := g.tick + strikeAfter
	g.waits = append(g.waits, &waiter{holds: func() bool {
		if g.tick < at {
			return false
		}
		f()
		return true
	}, until: at + 1, answer: make(chan string, 1)})
}

// write sends a reply as the faults want it. It says whether the connection goes on.
func (s *Server) write(c net.Conn, text string, hit map[Kind]bool) bool {
	switch {
	case hit[DisconnectAfter]:
		return false
	case hit[NoReply]:
		return s.hang(c)
	case hit[LateReply]:
		t := time.NewTimer(s.Late)
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.quit:
			return false
		}
	case hit[ByteAtATime]:
		for _, b := range []byte(text + "\n") {
			if _, err := c.Write([]byte{b}); err != nil {
				return false
			}
			time.Sleep(200 * time.Microsecond)
		}
		return true
	}
	if _, err := c.Write(spoil(text, hit)); err != nil {
		return false
	}
	if hit[HalfLine] {
		return s.hang(c)
	}
	return true
}

// hang says nothing more until the other side closes.
func (s *Server) hang(c net.Conn) bool {
	var b [64]byte
	for {
		if _, err := c.Read(b[:]); err != nil {
			return false
		}
	}
}

func (s *Server) watchHome() {
	defer s.wg.Done()
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-t.C:
			if NoAI(s.g.opt.Home) {
				s.shut()
				return
			}
		}
	}
}

// NoAI says whether a game home forbids every program to drive the game.
func NoAI(home string) bool {
	if home == "" {
		return false
	}
	b, err := os.ReadFile(filepath.Join(home, "horizon-extras.txt"))
	if err != nil {
		return false
	}
	for _, l := range strings.Split(string(b), "\n") {
		if strings.TrimSpace(l) == "noAi:true" {
			return true
		}
	}
	return false
}

// Wait blocks until the endpoint is closed or ctx ends.
func (s *Server) Wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.quit:
	}
}
