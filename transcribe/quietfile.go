package transcribe

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/digest"
)

// quietMagic begins a kept table. The version changes with the meaning of a value.
const quietMagic = "bwv quiet table 1\n"

// errNoTable says that a file is no whole table of this key.
var errNoTable = errors.New("not a whole silence table")

// encode writes the table: magic, key, rows in the order of their contexts, and the
// digest of all that.
func (q *quietTable) encode(key digest.Digest) []byte {
	var b bytes.Buffer
	b.WriteString(quietMagic)
	b.Write(key[:])
	u32 := func(x uint32) { _ = binary.Write(&b, binary.LittleEndian, x) }
	u32(uint32(len(q.rows)))
	keys := make([]string, 0, len(q.rows))
	for k := range q.rows {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		r := q.rows[k]
		u32(uint32(len(k)))
		b.WriteString(k)
		u32(uint32(len(r.token)))
		for i, t := range r.token {
			u32(uint32(t))
			u32(math.Float32bits(r.lp[i]))
		}
	}
	sum := sha256.Sum256(b.Bytes())
	return append(b.Bytes(), sum[:]...)
}

// decodeQuiet reads what encode wrote, or returns errNoTable.
func decodeQuiet(data []byte, key digest.Digest) (map[string]quietRow, error) {
	head := len(quietMagic) + len(key)
	if len(data) < head+4+sha256.Size || string(data[:len(quietMagic)]) != quietMagic || !bytes.Equal(data[len(quietMagic):head], key[:]) {
		return nil, errNoTable
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if digest.Of(body) != digest.Digest(sum) {
		return nil, errNoTable
	}
	body = body[head:]
	u32 := func() (uint32, bool) {
		if len(body) < 4 {
			return 0, false
		}
		x := binary.LittleEndian.Uint32(body)
		body = body[4:]
		return x, true
	}
	n, _ := u32()
	rows := make(map[string]quietRow, min(n, 1<<16))
	for range n {
		size, ok := u32()
		if !ok || uint64(len(body)) < uint64(size)+4 {
			return nil, errNoTable
		}
		k := string(body[:size])
		body = body[size:]
		m, _ := u32()
		if uint64(len(body)) < 8*uint64(m) {
			return nil, errNoTable
		}
		r := quietRow{token: make([]Token, m), lp: make([]float32, m)}
		for i := range r.token {
			t, _ := u32()
			v, _ := u32()
			r.token[i], r.lp[i] = Token(t), math.Float32frombits(v)
		}
		rows[k] = r
	}
	return rows, nil
}

// quietPath is where a table of this key is kept in dir.
func quietPath(dir string, key digest.Digest) string {
	return filepath.Join(dir, "silence-"+key.Short())
}

// load takes the kept values; a file that is damaged or of another key counts for nothing.
func (q *quietTable) load(dir string, key digest.Digest) error {
	data, err := os.ReadFile(quietPath(dir, key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the silence table: %w", err)
	}
	if rows, err := decodeQuiet(data, key); err == nil {
		q.rows = rows
	}
	return nil
}

// keep writes the table when it has grown.
func (q *quietTable) keep(dir string, key digest.Digest) error {
	if q.grew == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep the silence table: %w", err)
	}
	if err := atomicfile.Write(quietPath(dir, key), q.encode(key)); err != nil {
		return fmt.Errorf("keep the silence table: %w", err)
	}
	q.grew = 0
	return nil
}
