// Package digest is the SHA-256 value by which files, models and documents are named.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Digest is a SHA-256. The zero value means "no digest".
type Digest [sha256.Size]byte

// Of returns the digest of b.
func Of(b []byte) Digest { return sha256.Sum256(b) }

// Reader returns the digest and the length of everything that r gives.
func Reader(r io.Reader) (Digest, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	if err != nil {
		return Digest{}, n, err
	}
	return Digest(h.Sum(nil)), n, nil
}

// File returns the digest and the size of the file at path.
func File(path string) (Digest, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return Digest{}, 0, err
	}
	defer f.Close()
	return Reader(f)
}

// Parse reads 64 lower-case hexadecimal digits.
func Parse(s string) (Digest, error) {
	var d Digest
	if len(s) != 2*len(d) {
		return Digest{}, fmt.Errorf("a sha256 has %d hexadecimal digits, this has %d", 2*len(d), len(s))
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return Digest{}, fmt.Errorf("a sha256 has lower-case hexadecimal digits, not %q", c)
		}
	}
	_, err := hex.Decode(d[:], []byte(s))
	return d, err
}

// IsZero says whether d is the zero value.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Short returns the first twelve digits, for people.
func (d Digest) Short() string { return d.String()[:12] }

// MarshalText writes the hexadecimal digits; the zero value is the empty string.
func (d Digest) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText is the reverse of MarshalText.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Digest{}
		return nil
	}
	v, err := Parse(string(b))
	if err != nil {
		return err
	}
	*d = v
	return nil
}
