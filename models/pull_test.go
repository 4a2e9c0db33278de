package models

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"blockworld-voice/internal/digest"
)

// origin is a server of one file, with faults.
type origin struct {
	*httptest.Server
	data     []byte
	requests atomic.Int32
	ranges   chan string // of each request
}

// serve starts a TLS server; answer sees the number of the request, from 1.
func serve(t *testing.T, data []byte, answer func(o *origin, n int32, w http.ResponseWriter, r *http.Request)) *origin {
	t.Helper()
	o := &origin{data: data, ranges: make(chan string, 100)}
	o.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.ranges <- r.Header.Get("Range")
		answer(o, o.requests.Add(1), w, r)
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *origin) request() PullRequest {
	return PullRequest{Name: "tiny-test", URL: o.URL + "/ggml.bin", Want: digest.Of(o.data), Client: o.Client()}
}

// rest answers a range request as a good server does.
func (o *origin) rest(w http.ResponseWriter, r *http.Request) {
	var from int
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err != nil {
		from = 0
	}
	if from >= len(o.data) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", len(o.data)))
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		return
	}
	if from > 0 {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(o.data)-1, len(o.data)))
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(o.data)-from))
	if from > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
	w.Write(o.data[from:])
}

// cut sends the head of a whole answer, n bytes, and hangs up.
func (o *origin) cut(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(o.data)))
	w.Write(o.data[:n])
	panic(http.ErrAbortHandler)
}

func TestPull(t *testing.T) {
	data := tinyGGML(t, 1)
	o := serve(t, data, func(o *origin, _ int32, w http.ResponseWriter, r *http.Request) { o.rest(w, r) })
	s := newStore(t)
	q := o.request()
	var last, total int64
	q.Progress = func(d, n int64) { last, total = d, n }
	m, err := s.Pull(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if m.SHA256 != digest.Of(data) || m.Trust != TrustGiven || m.Origin != q.URL || last != int64(len(data)) || total != last {
		t.Errorf("Pull = %+v, progress %d of %d", m, last, total)
	}
	if _, err := s.Pull(context.Background(), q); err != nil || o.requests.Load() != 1 {
		t.Errorf("the second pull: %v, %d requests", err, o.requests.Load())
	}
	intact(t, s, "tiny-test")
}

func TestPullContinuesWithinACall(t *testing.T) {
	data := tinyGGML(t, 1)
	o := serve(t, data, func(o *origin, n int32, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			o.cut(w, 5000)
		}
		o.rest(w, r)
	})
	s := newStore(t)
	if _, err := s.Pull(context.Background(), o.request()); err != nil {
		t.Fatal(err)
	}
	if a, b := <-o.ranges, <-o.ranges; a != "" || !strings.HasPrefix(b, "bytes=") || b == "bytes=0-" {
		t.Errorf("the ranges asked for are %q, %q", a, b)
	}
	intact(t, s, "tiny-test")
}

func TestPullContinuesAnEarlierCall(t *testing.T) {
	data := tinyGGML(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	o := serve(t, data, func(o *origin, n int32, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			w.Header().Set("Content-Length", fmt.Sprint(len(o.data)))
			w.Write(o.data[:9000])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		o.rest(w, r)
	})
	s := newStore(t)
	q := o.request()
	q.Progress = func(done, _ int64) {
		if done >= 9000 {
			cancel()
		}
	}
	_, err := s.Pull(ctx, q)
	wantError(t, err, context.Canceled, "stopped after 9000 bytes")
	if _, err := s.Pull(context.Background(), q); err != nil {
		t.Fatal(err)
	}
	if a, b := <-o.ranges, <-o.ranges; a != "" || b != "bytes=9000-" {
		t.Errorf("the ranges asked for are %q, %q", a, b)
	}
	intact(t, s, "tiny-test")
}

func TestPullFromAServerWithoutRanges(t *testing.T) {
	data := tinyGGML(t, 1)
	o := serve(t, data, func(o *origin, n int32, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			o.cut(w, 5000)
		}
		r.Header.Del("Range")
		o.rest(w, r)
	})
	s := newStore(t)
	if _, err := s.Pull(context.Background(), o.request()); err != nil {
		t.Fatal(err)
	}
	intact(t, s, "tiny-test")
}

func TestPullBeginsAnewAfterAWrongRange(t *testing.T) {
	data := tinyGGML(t, 1)
	o := serve(t, data, func(o *origin, n int32, w http.ResponseWriter, r *http.Request) {
		switch n {
		case 1:
			o.cut(w, 5000)
		case 2: // bytes from elsewhere
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 7-%d/%d", len(o.data)-1, len(o.data)))
			w.WriteHeader(http.StatusPartialContent)
			w.Write(o.data[7:])
		default:
			o.rest(w, r)
		}
	})
	s := newStore(t)
	if _, err := s.Pull(context.Background(), o.request()); err != nil {
		t.Fatal(err)
	}
	intact(t, s, "tiny-test")
}

// A part from an earlier call that turns out to be of another file is thrown away once.
func TestPullThrowsAStalePartAway(t *testing.T) {
	data := tinyGGML(t, 1)
	o := serve(t, data, func(o *origin, _ int32, w http.ResponseWriter, r *http.Request) { o.rest(w, r) })
	for _, stale := range []int{4000, len(data), len(data) + 10} {
		s := newStore(t)
		q := o.request()
		part := filepath.Join(s.dir, tempPrefix+digest.Of([]byte(q.URL+" "+q.Want.String())).Short())
		if err := os.WriteFile(part, make([]byte, stale), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Pull(context.Background(), q); err != nil {
			t.Errorf("%d stale bytes: %v", stale, err)
		}
		intact(t, s, "tiny-test")
	}
}

func TestPullRefusesWrongBytes(t *testing.T) {
	data := tinyGGML(t, 1)
	spoiled := append([]byte(nil), data...)
	spoiled[len(spoiled)-5] ^= 1
	o := serve(t, data, func(o *origin, _ int32, w http.ResponseWriter, r *http.Request) { w.Write(spoiled) })
	s := newStore(t)
	_, err := s.Pull(context.Background(), o.request())
	wantError(t, err, ErrDigest, digest.Of(spoiled).String())
	if o.requests.Load() != 1 {
		t.Errorf("%d requests for bytes that are wrong each time", o.requests.Load())
	}
	intact(t, s)
}

func TestPullRefusesWhatTheEngineCantRead(t *testing.T) {
	page := []byte("<html>please log in</html>")
	o := serve(t, page, func(o *origin, _ int32, w http.ResponseWriter, r *http.Request) { o.rest(w, r) })
	s := newStore(t)
	q := o.request()
	q.Want, q.TrustFirstUse = none, true
	_, err := s.Pull(context.Background(), q)
	wantError(t, err, nil, "no ggml file")
	names, globErr := filepath.Glob(filepath.Join(s.dir, filePrefix+"*"))
	if globErr != nil || len(names) != 0 {
		t.Errorf("the store has %v", names)
	}
}

func TestPullStaysOnHTTPS(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the plain server was asked")
	}))
	defer plain.Close()
	data := tinyGGML(t, 1)
	o := serve(t, data, func(_ *origin, _ int32, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+"/ggml.bin", http.StatusFound)
	})
	s := newStore(t)
	_, err := s.Pull(context.Background(), o.request())
	wantError(t, err, nil, "not https")
	if o.requests.Load() != 1 {
		t.Errorf("%d requests", o.requests.Load())
	}
	q := o.request()
	q.URL = plain.URL
	_, err = s.Pull(context.Background(), q)
	wantError(t, err, nil, "no https address")
	intact(t, s)
}

func TestPullFollowsHTTPS(t *testing.T) {
	data := tinyGGML(t, 1)
	o := serve(t, data, func(o *origin, _ int32, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ggml.bin" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		o.rest(w, r)
	})
	s := newStore(t)
	if _, err := s.Pull(context.Background(), o.request()); err != nil {
		t.Fatal(err)
	}
	intact(t, s, "tiny-test")
}

func TestPullGivesUp(t *testing.T) {
	for name, answer := range map[string]func(o *origin, w http.ResponseWriter){
		"not found":   func(_ *origin, w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
		"failing":     func(_ *origin, w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		"cut at once": func(o *origin, w http.ResponseWriter) { o.cut(w, 0) },
		"endless redirects": func(o *origin, w http.ResponseWriter) {
			w.Header().Set("Location", o.URL+"/again")
			w.WriteHeader(http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := serve(t, tinyGGML(t, 1), func(o *origin, _ int32, w http.ResponseWriter, _ *http.Request) { answer(o, w) })
			s := newStore(t)
			_, err := s.Pull(context.Background(), o.request())
			wantError(t, err, nil, "tiny-test can't be downloaded")
			intact(t, s)
		})
	}
}

// The catalogue's size is a bound: a server that offers or sends more is refused at once.
func TestPullRefusesAnotherSize(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"offered": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "999999999999")
			w.WriteHeader(http.StatusOK)
		},
		"html": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
	} {
		t.Run(name, func(t *testing.T) {
			o := serve(t, nil, func(_ *origin, _ int32, w http.ResponseWriter, r *http.Request) { answer(w, r) })
			s := newStore(t)
			_, err := s.Pull(context.Background(), PullRequest{Name: "base", URL: o.URL + "/x", Client: o.Client()})
			wantError(t, err, nil, "base has 147951465")
			intact(t, s)
		})
	}
}

func TestPullNeedsADigest(t *testing.T) {
	data := tinyGGML(t, 1)
	o := serve(t, data, func(o *origin, _ int32, w http.ResponseWriter, r *http.Request) { o.rest(w, r) })
	s := newStore(t)
	q := o.request()
	q.Want = none
	_, err := s.Pull(context.Background(), q)
	wantError(t, err, nil, "no digest")
	_, err = s.Pull(context.Background(), PullRequest{Name: "small"})
	wantError(t, err, nil, "no digest of small")
	_, err = s.Pull(context.Background(), PullRequest{Name: "small-sk"})
	wantError(t, err, nil, "must be converted")
	_, err = s.Pull(context.Background(), PullRequest{Name: "unheard-of"})
	wantError(t, err, nil, "no model")
	_, err = s.Pull(context.Background(), PullRequest{Name: "base", Want: digest.Of(data)})
	wantError(t, err, ErrDigest, "base")
	if o.requests.Load() != 0 {
		t.Errorf("%d requests", o.requests.Load())
	}
	q.TrustFirstUse = true
	if m, err := s.Pull(context.Background(), q); err != nil || m.Trust != TrustFirstUse || m.SHA256 != digest.Of(data) {
		t.Errorf("first use: %+v, %v", m, err)
	}
	q.TrustFirstUse, q.Want = false, digest.Of([]byte("changed"))
	_, err = s.Pull(context.Background(), q)
	wantError(t, err, nil, "taken")
	intact(t, s, "tiny-test")
}

func TestTwoPullsAtOnce(t *testing.T) {
	data := tinyGGML(t, 1)
	entered, leave := make(chan struct{}), make(chan struct{})
	o := serve(t, data, func(o *origin, _ int32, w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-leave
		o.rest(w, r)
	})
	s := newStore(t)
	first := make(chan error)
	go func() {
		_, err := s.Pull(context.Background(), o.request())
		first <- err
	}()
	<-entered
	_, err := s.Pull(context.Background(), o.request())
	wantError(t, err, nil, "another pull")
	close(leave)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	intact(t, s, "tiny-test")
}

func TestPullWithoutARoute(t *testing.T) {
	o := serve(t, tinyGGML(t, 1), func(*origin, int32, http.ResponseWriter, *http.Request) {})
	q := o.request()
	o.Close()
	s := newStore(t)
	_, err := s.Pull(context.Background(), q)
	wantError(t, err, nil, "can't be downloaded from 127.0.0.1")
	intact(t, s)
}

func TestContentRange(t *testing.T) {
	for in, want := range map[string]string{
		"bytes 5-9/10": "5 10 true", "bytes */10": "0 10 true", "bytes 5-9/*": "5 0 true",
		"": "0 0 false", "bytes": "0 0 false", "bytes 5/10": "5 10 false", "bytes a-9/10": "0 10 false", "bytes 5-9/-1": "0 0 false", "items 5-9/10": "0 0 false",
	} {
		first, total, ok := contentRange(in)
		if got := fmt.Sprint(first, total, ok); got != want {
			t.Errorf("contentRange(%q) = %s, want %s", in, got, want)
		}
	}
}
