package models

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"blockworld-voice/internal/digest"
)

const (
	// maxDownload bounds a download of unknown size.
	maxDownload = 8 << 30
	// maxTries is how often a download is begun anew without getting a byte further.
	maxTries = 4
	maxHops  = 10
	// stallAfter ends a connection that sends nothing.
	stallAfter = 30 * time.Second
)

// PullRequest says what to download.
type PullRequest struct {
	Name          string        // of the catalogue, or any with URL
	URL           string        // https; "" is the catalogue's
	Want          digest.Digest // zero is the catalogue's
	TrustFirstUse bool          // without any digest: record the one that comes
	Client        *http.Client  // nil is a client that gives up soon where there is no route
	Progress      Progress
}

// NewClient is the client of a PullRequest that names none.
func NewClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 8 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		ForceAttemptHTTP2:     true,
	}}
}

// Pull downloads a ggml file into the store. A download that was cut is continued, by this call
// for a while, and by the next one. A model that is there already is not fetched again.
func (s *Store) Pull(ctx context.Context, q PullRequest) (Model, error) {
	d, err := q.plan()
	if err != nil {
		return Model{}, err
	}
	if m, err := s.Resolve(q.Name); err == nil && m.Stored && (d.want.IsZero() || m.SHA256 == d.want) {
		return m, nil
	}
	if err := s.nameIsFree(q.Name, d.want); err != nil {
		return Model{}, err
	}
	if q.Client == nil {
		c := NewClient()
		defer c.CloseIdleConnections()
		q.Client = c
	}
	client := *q.Client // a copy: the redirect rule is ours
	client.CheckRedirect = onlyHTTPS
	d.client, d.progress, d.wait = &client, q.Progress, s.retryWait

	// The partial file is named by what it will be, so that the next call finds it.
	part := filepath.Join(s.dir, tempPrefix+digest.Of([]byte(d.url+" "+d.want.String())).Short())
	lock := flock.New(part+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil {
		return Model{}, failf("check the folder", err, "the model store can't be written")
	} else if !ok {
		return Model{}, failf("wait for it, then run this again", nil, "another pull of %s is at work", q.Name)
	}
	defer lock.Unlock()

	if d.f, err = os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return Model{}, failf("check the folder and the space on the disk", err, "the model store can't be written")
	}
	defer d.f.Close()
	if err := d.run(ctx); err != nil {
		if d.n == 0 {
			os.Remove(part)
			os.Remove(part + ".lock")
		}
		return Model{}, err
	}
	if _, err := checkFile(part); err != nil {
		os.Remove(part)
		return Model{}, err
	}
	m, err := s.settle(d.f, record{Name: q.Name, SHA256: d.sum(), Size: d.n, Origin: d.url, Trust: d.trust}, q.Want)
	if err == nil {
		os.Remove(part + ".lock")
	}
	return m, err
}

// nameIsFree refuses, before anything is fetched, a name that stands for other bytes.
func (s *Store) nameIsFree(name string, want digest.Digest) error {
	t, err := s.readTable()
	if err != nil {
		return err
	}
	old, ok := t.find(name)
	if !ok || !want.IsZero() && old.SHA256 == want {
		return nil // the file may be lost or damaged: it is fetched again
	}
	if want.IsZero() {
		want = old.SHA256
	}
	return s.free(&t, record{Name: name, SHA256: want})
}

// download is one file on its way.
type download struct {
	name     string
	url      string
	want     digest.Digest
	size     int64 // 0: unknown
	trust    Trust
	client   *http.Client
	progress Progress
	wait     time.Duration

	f *os.File
	h hash.Hash // of the n bytes that f holds
	n int64
}

func (q PullRequest) plan() (*download, error) {
	if err := CheckName(q.Name); err != nil {
		return nil, err
	}
	e, ok := Lookup(q.Name)
	d := &download{name: q.Name, url: q.URL, want: q.Want}
	switch {
	case !ok && q.URL == "":
		return nil, misuse("see: blockworld-voice models list --all, or give an address", nil, "the catalogue has no model %q", q.Name)
	case q.URL == "" && e.Form != FormGGML:
		return nil, misuse(howToGet(e), nil, "%s is published in a form that must be converted", q.Name)
	case q.URL == "":
		d.url = e.Origin
	}
	if !e.SHA256.IsZero() {
		if !q.Want.IsZero() && q.Want != e.SHA256 {
			return nil, claim(q.Name, q.Want)
		}
		d.want, d.size = e.SHA256, e.Size
	}
	switch {
	case !q.Want.IsZero():
		d.trust = TrustGiven
	case !d.want.IsZero():
		d.trust = TrustCatalogue
	case q.TrustFirstUse:
		d.trust = TrustFirstUse
	default:
		return nil, misuse("give the digest with --sha256, or record the one that comes with --trust-first-use", nil,
			"no digest of %s was verified, so what comes can't be checked", q.Name)
	}
	u, err := url.Parse(d.url)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, misuse("give an https address", err, "%q is no https address", d.url)
	}
	return d, nil
}

func onlyHTTPS(r *http.Request, via []*http.Request) error {
	if r.URL.Scheme != "https" {
		return fmt.Errorf("%w: the server sends on to %s://%s, which is not https", errRefused, r.URL.Scheme, r.URL.Host)
	}
	if len(via) >= maxHops {
		return fmt.Errorf("%w: the server sends on more than %d times", errRefused, maxHops)
	}
	return nil
}

// errRefused marks answers that asking again would not change, errDisk failures of this machine.
var (
	errRefused = errors.New("refused")
	errDisk    = errors.New("no room")
)

// run brings the whole file into f, with the right digest.
func (d *download) run(ctx context.Context) error {
	if err := d.recall(ctx); err != nil {
		return failf("check the disk", err, "the download of %s can't be continued", d.name)
	}
	resumed := d.n > 0
	for tries := 0; ; tries++ {
		before := d.n
		done, err := d.fetch(ctx)
		if err == nil && done {
			if d.want.IsZero() || d.sum() == d.want {
				return nil
			}
			got := d.sum()
			if err := d.restart(); err != nil {
				return err
			}
			if resumed { // the part from an earlier call may be what is wrong
				resumed = false
				continue
			}
			return failf("try again later; if it happens again the file was changed where it is published", ErrDigest,
				"%s has the digest %s, not %s; nothing was stored", d.url, got, d.want)
		}
		switch {
		case ctx.Err() != nil:
			return failf("run it again to continue", ctx.Err(), "the download of %s was stopped after %d bytes", d.name, d.n)
		case errors.Is(err, errDisk):
			return failf("make room and run it again: it continues where it stopped", err, "%s can't be stored", d.name)
		case errors.Is(err, errRefused):
			return failf("check the address, or put the file in place with: blockworld-voice models add", err, "%s can't be downloaded", d.name)
		}
		if d.n > before {
			tries = 0
		}
		if tries+1 >= maxTries || isNoRoute(err) {
			return failf("check the network and run it again: it continues where it stopped", err, "%s can't be downloaded from %s", d.name, hostOf(d.url))
		}
		select {
		case <-time.After(d.wait << tries):
		case <-ctx.Done():
		}
	}
}

func hostOf(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Host
	}
	return raw
}

// isNoRoute tells a machine without a way to the host, where waiting helps nobody.
func isNoRoute(err error) bool {
	var dns *net.DNSError
	var op *net.OpError
	return errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
}

func (d *download) sum() digest.Digest { return digest.Digest(d.h.Sum(nil)) }

// recall hashes what an earlier call left.
func (d *download) recall(ctx context.Context) error {
	d.h = sha256.New()
	n, err := io.Copy(d.h, &watched{ctx: ctx, r: d.f})
	d.n = n
	if err == nil && (d.size > 0 && n > d.size || n > maxDownload) {
		return d.restart()
	}
	return err
}

func (d *download) restart() error {
	d.h, d.n = sha256.New(), 0
	if err := d.f.Truncate(0); err != nil {
		return failf("check the disk", err, "the partial download can't be emptied")
	}
	_, err := d.f.Seek(0, io.SeekStart)
	return err
}
