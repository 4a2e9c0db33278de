package horizon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blockworld-voice/internal/procgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the other end of a connection: it calls serve for every connection.
func peer(t testing.TB, serve func(net.Conn, *bufio.Reader)) Endpoint {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c, bufio.NewReader(c))
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	e, err := ParseEndpoint(path, "")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func connect(t testing.TB, e Endpoint) *Client {
	t.Helper()
	self, err := procgroup.Self()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial(context.Background(), e, self)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// answering replies to the n-th line with the n-th text, byte for byte.
func answering(texts ...string) func(net.Conn, *bufio.Reader) {
	return func(c net.Conn, in *bufio.Reader) {
		for _, text := range texts {
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
			if _, err := c.Write([]byte(text)); err != nil {
				return
			}
		}
		_, _ = in.ReadString('\n')
	}
}

const short = 200 * time.Millisecond

// After a fault the connection is closed for good, and the next request isn't sent on it.
// contract: S5
func TestHostileRepliesCloseTheConnection(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "half a line": `{"ok":tr`, "NUL": "{\"ok\":true\x00}\n", "invalid UTF-8": "{\"ok\":true,\"x\":\"\xff\"}\n", "not JSON": "hello\n", "empty line": "\n",
		"huge": `{"ok":true,"x":"` + strings.Repeat("x", 10<<20) + "\"}\n", "huge without an end": strings.Repeat("x", 10<<20), "deep": `{"x":` + strings.Repeat("[", 1<<19) + "\n",
		"NaN": "{\"ok\":NaN}\n", "twice": "{\"ok\":true}\n{\"ok\":true}\n", "more": "{\"ok\":true}\n{", "a list": "[true]\n", "duplicate": "{\"ok\":true,\"ok\":false}\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, peer(t, answering(text, "{\"ok\":true}\n")))
			_, err := c.Ask(t.Context(), Chat{"x"}, short)
			var lost *SendError
			if !errors.As(err, &lost) || !lost.Sent {
				t.Fatalf("%v", err)
			}
			_, err = c.Ask(t.Context(), Chat{"y"}, short)
			if !errors.As(err, &lost) || lost.Sent || !errors.Is(err, ErrClosed) {
				t.Fatalf("the connection is still used: %v", err)
			}
		})
	}
}

func TestSlowAndSplitRepliesAreRead(t *testing.T) {
	e := peer(t, func(c net.Conn, in *bufio.Reader) {
		if _, err := in.ReadString('\n'); err != nil {
			return
		}
		for _, b := range []byte(goodState + "\n") {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
		}
		_, _ = in.ReadString('\n')
	})
	if s, err := connect(t, e).State(t.Context(), 10*time.Second); err != nil || s.World != "W" {
		t.Fatal(s, err)
	}
	long := strings.Repeat("y", MaxLine-len(`{"x":""}`))
	c := connect(t, peer(t, answering(`{"x":"`+long+"\"}\n", `{"x":"`+long+"yy\"}\n")))
	if _, err := c.Ask(t.Context(), Hello{}, 10*time.Second); err != nil {
		t.Fatalf("a reply of exactly the limit: %v", err)
	}
	if _, err := c.Ask(t.Context(), Hello{}, 10*time.Second); !errors.Is(err, ErrMalformed) {
		t.Fatalf("a reply over the limit: %v", err)
	}
}

// A peer that drips bytes for ever is cut off by the deadline of the whole reply.
func TestDrippingReplyEndsInTime(t *testing.T) {
	e := peer(t, func(c net.Conn, in *bufio.Reader) {
		_, _ = in.ReadString('\n')
		for {
			if _, err := c.Write([]byte(" ")); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	_, err := connect(t, e).Ask(t.Context(), Hello{}, short)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
}

// A late answer is never taken for the next one.
func TestLateAnswerIsNotTheNextOne(t *testing.T) {
	e := peer(t, func(c net.Conn, in *bufio.Reader) {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if strings.HasPrefix(line, "chat") {
				time.Sleep(2 * short)
			}
			if _, err := fmt.Fprintf(c, "{\"ok\":true,\"to\":%q}\n", strings.TrimSpace(line)); err != nil {
				return
			}
		}
	})
	c := connect(t, e)
	if _, err := c.Ask(t.Context(), Chat{"slow"}, short); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	time.Sleep(2 * short)
	if _, err := c.Ask(t.Context(), Stop{}, short); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

// What stands in the connection before a request is no answer to it: nothing is sent.
func TestUnaskedLineBreaksTheConnection(t *testing.T) {
	got := make(chan string, 1)
	e := peer(t, func(c net.Conn, in *bufio.Reader) {
		_, _ = c.Write([]byte("{\"ok\":true}\n"))
		line, _ := in.ReadString('\n')
		got <- line
	})
	c := connect(t, e)
	for !c.unasked() {
		time.Sleep(time.Millisecond)
	}
	var lost *SendError
	if _, err := c.Ask(t.Context(), Chat{"x"}, short); !errors.As(err, &lost) || lost.Sent || !errors.Is(err, ErrMalformed) {
		t.Fatal(err)
	}
	if line := <-got; line != "" {
		t.Fatalf("%q was sent", line)
	}
}

func TestEndedContextIsNotSent(t *testing.T) {
	c := connect(t, peer(t, answering("{\"ok\":true}\n")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var lost *SendError
	if _, err := c.Ask(ctx, Chat{"x"}, short); !errors.As(err, &lost) || lost.Sent || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	// It was never used, so it is still good.
	if _, err := c.Ask(t.Context(), Chat{"x"}, 10*time.Second); err != nil {
		t.Fatal(err)
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	asked := make(chan struct{})
	e := peer(t, func(c net.Conn, in *bufio.Reader) {
		_, _ = in.ReadString('\n')
		close(asked)
		_, _ = in.ReadString('\n')
	})
	c := connect(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	var lost *SendError
	if _, err := c.Ask(ctx, Chat{"x"}, time.Minute); !errors.As(err, &lost) || !lost.Sent || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestBlockMustBeTheOneAskedFor(t *testing.T) {
	c := connect(t, peer(t, answering("{\"pos\":[1,2,4],\"block\":\"minecraft:air\",\"state\":{},\"loaded\":true}\n")))
	if _, err := c.Block(t.Context(), Block{1, 2, 3}, short); !errors.Is(err, ErrMalformed) {
		t.Fatal(err)
	}
	if _, err := c.Hello(t.Context(), short); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

// Whatever a peer sends, a client takes at most 4 MiB for it above what it takes idle. The bound is shown for all that
// is allocated from the request to its end, kept or not: the peak can't be more.
func TestMemoryIsBounded(t *testing.T) {
	var wide strings.Builder
	for i := 0; wide.Len() < MaxLine-100; i++ {
		fmt.Fprintf(&wide, `"%x":1,`, i)
	}
	for name, text := range map[string]string{
		"without an end": strings.Repeat(`[{"a":1},`, 1<<20), "many names": "{" + wide.String() + "\"end\":1}\n", "many lists": `{"x":[` + strings.Repeat("[],", 300_000) + "[]]}\n",
		"long names": `{"` + strings.Repeat("n", MaxLine-100) + "\":1}\n", "long number": `{"ok":` + strings.Repeat("9", MaxLine-100) + "}\n", "escapes": `{"world":"` + strings.Repeat(`\u0041`, MaxLine/6-20) + "\"}\n",
	} {
		raw := []byte(text)
		e := peer(t, func(c net.Conn, in *bufio.Reader) {
			_, _ = in.ReadString('\n')
			_, _ = c.Write(raw)
			_, _ = in.ReadString('\n')
		})
		c := connect(t, e)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, _ = c.Ask(t.Context(), Hello{}, 10*time.Second)
		runtime.ReadMemStats(&after)
		if n := int64(after.TotalAlloc - before.TotalAlloc); n > 4<<20 {
			t.Errorf("%s: %d KiB were allocated", name, n>>10)
		} else {
			t.Logf("%s: %d KiB", name, n>>10)
		}
	}
}

func TestTokenFileRules(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := put("good", strings.Repeat("0a", 16)+"\n", 0o600)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{good: true, link: false, put("open", strings.Repeat("0a", 16), 0o644): false, put("short", "0a0a", 0o600): false,
		put("long", strings.Repeat("0a", 300), 0o600): false, put("text", strings.Repeat("zz", 16), 0o600): false, dir: false, filepath.Join(dir, "none"): false} {
		e, err := ParseEndpoint("tcp:127.0.0.1:4000", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.readToken(); (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
}
