package horizon

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"blockworld-voice/internal/sockpath"
)

const tcpPrefix = "tcp:127.0.0.1:"

// Endpoint is where a client listens: a Unix socket, or a port of this machine's
// loopback with a token. The zero value is no endpoint.
type Endpoint struct {
	path  string
	port  uint16
	token string // file
}

// ParseEndpoint reads the form of a profile: an absolute path, or "tcp:127.0.0.1:PORT"
// together with the token's file.
func ParseEndpoint(s, tokenFile string) (Endpoint, error) {
	if port, ok := strings.CutPrefix(s, tcpPrefix); ok {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return Endpoint{}, fmt.Errorf("%q is no port", port)
		}
		if !filepath.IsAbs(tokenFile) {
			return Endpoint{}, errors.New("a TCP endpoint needs the absolute path of its token file")
		}
		return Endpoint{port: uint16(n), token: tokenFile}, nil
	}
	if tokenFile != "" {
		return Endpoint{}, errors.New("only a TCP endpoint has a token file")
	}
	if !filepath.IsAbs(s) || filepath.Clean(s) != s || strings.ContainsRune(s, 0) {
		return Endpoint{}, fmt.Errorf("%q is neither the absolute path of a socket nor %sPORT", s, tcpPrefix)
	}
	return Endpoint{path: s}, nil
}

// String is the form of a profile.
func (e Endpoint) String() string {
	if e.path != "" {
		return e.path
	}
	return tcpPrefix + strconv.Itoa(int(e.port))
}

func (e Endpoint) connect(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	if e.path == "" {
		return d.DialContext(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(e.port))))
	}
	short, release, err := sockpath.Short(e.path)
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := d.DialContext(ctx, "unix", short)
	var op *net.OpError
	if errors.As(err, &op) {
		op.Addr = &net.UnixAddr{Name: e.path, Net: "unix"} // what people know it by
	}
	return c, err
}

// readToken reads the token of a TCP endpoint: 128 bits in hexadecimal digits, in a
// regular file that only its owner can read.
func (e Endpoint) readToken() (string, error) {
	f, err := os.OpenFile(e.token, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !st.Mode().IsRegular() || st.Mode().Perm()&0o077 != 0 || !ok || int(sys.Uid) != os.Getuid() {
		return "", errors.New("token file: it must be a regular file of yours that nobody else can read (chmod 600)")
	}
	b, err := io.ReadAll(io.LimitReader(f, 256))
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	t := strings.TrimSpace(string(b))
	if raw, err := hex.DecodeString(t); err != nil || len(raw) != 16 {
		return "", errors.New("token file: it must hold 32 hexadecimal digits")
	}
	return t, nil
}
