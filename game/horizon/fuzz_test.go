package horizon

import (
	"bufio"
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// FuzzReply: no line makes a projection panic or lets a value through that isn't finite
// or bounded.
func FuzzReply(f *testing.F) {
	for _, s := range []string{goodState, goodStatus, `{"ok":true}`, `{"error":"x","kind":"busy"}`, `{"events":[{"seq":1,"kind":"chat"}],"last":1}`, `{"slots":[],"selected":0,"offhand":null,"carried":null}`,
		`{"pos":[1,2,3],"block":"a","state":{},"loaded":true}`, `{"game":"horizon","version":"1","protocol":["1"]}`, "{\"ok\":true\x00}", `{"a":[[[[]]]]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parseReply(line)
		var bad *ReplyError
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.As(err, &bad) {
				t.Fatalf("%v", err)
			}
			return
		}
		if s, err := r.State(); err == nil && (len(s.World) > maxLabel || s.Health != s.Health) {
			t.Fatalf("%+v", s)
		}
		if s, err := r.Status(); err == nil && s.Server != nil && s.Server.Address == "" {
			t.Fatalf("%+v", s)
		}
		_, _ = r.Hello()
		_, _ = r.Events()
		_, _ = r.Inventory()
		_, _ = r.Block()
		_ = r.Done()
	})
}

// FuzzWire: whatever bytes come back in whatever pieces, a request ends in time, and
// after a fault no later request is ever answered from the same connection. A reply that
// was good is the first line and nothing else.
func FuzzWire(f *testing.F) {
	f.Add([]byte("{\"ok\":true}\n"), uint8(1))
	f.Add([]byte("{\"ok\":true}\n{\"ok\":true}\n"), uint8(0))
	f.Add([]byte("{\"ok\":tr"), uint8(3))
	f.Add([]byte("\n\n\n"), uint8(2))
	f.Add([]byte("{\"ok\":true,\"x\":\"\xff\"}\n"), uint8(5))
	f.Fuzz(func(t *testing.T, answer []byte, piece uint8) {
		near, far := net.Pipe()
		defer near.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer far.Close()
			in := bufio.NewReader(far)
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
			for rest := answer; len(rest) > 0; {
				n := min(len(rest), 1+int(piece))
				if _, err := far.Write(rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
			}
		}()
		c := &Client{conn: near, in: bufio.NewReaderSize(near, 4096)}
		_, err := c.Ask(context.Background(), Chat{"x"}, 5*time.Second)
		var bad *ReplyError
		var lost *SendError
		switch {
		case err == nil || errors.As(err, &bad):
		case errors.As(err, &lost) && lost.Sent:
			if _, err := c.Ask(context.Background(), Stop{}, time.Second); !errors.Is(err, ErrClosed) {
				t.Fatalf("used again: %v", err)
			}
		default:
			t.Fatalf("%v", err)
		}
		_ = c.Close()
		<-done
	})
}
