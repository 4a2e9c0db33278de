package horizon

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxLine is the longest reply that is read, in bytes.
	MaxLine = 1 << 20
	// MaxDepth is the deepest nesting of a reply.
	MaxDepth = 64
	// MaxTokens is how many names, values, ends of lists and of objects a reply may have:
	// memory for them grows with their number, not with the length of the line.
	MaxTokens = 1 << 15
)

// maxAtom is the longest number or name with the space before it, in bytes.
const maxAtom = 4096

// Reply is one checked JSON object. Its members are reached only through the projections
// of this package, so that nothing else of what the game said can travel further.
type Reply struct{ members map[string]jsontext.Value }

// ReplyError is an error reply. The game's sentence is dropped on purpose: it is text
// of the peer's choosing, and only its kind has a meaning that we rely on.
type ReplyError struct {
	Kind  ErrorKind
	Token bool // the answer to a token, or at least the first one after it
}

func (e *ReplyError) Error() string {
	return "the game answered with an error of kind " + e.Kind.String()
}

// ErrMalformed says that a line from the game is not a reply.
var ErrMalformed = errors.New("malformed reply")

func malformed(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, a...))
}

// parseReply checks a line (without its newline) and splits its top level. The error is
// ErrMalformed with a sentence of ours, or a *ReplyError.
func parseReply(line []byte) (Reply, error) {
	if len(line) > MaxLine {
		return Reply{}, malformed("longer than %d bytes", MaxLine)
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return Reply{}, malformed("it holds a NUL")
	}
	if !utf8.Valid(line) {
		return Reply{}, malformed("it is not valid UTF-8")
	}
	m, err := splitObject(line)
	if err != nil {
		return Reply{}, err
	}
	r := Reply{members: m}
	if _, bad := m[keyError]; !bad {
		return r, nil
	}
	f := fields{m: m}
	f.str(keyError, 4096)
	kind := f.str(keyKind, 64)
	if f.err != nil {
		return Reply{}, f.err
	}
	if _, both := m[keyOK]; both {
		return Reply{}, malformed("it says both ok and error")
	}
	return Reply{}, &ReplyError{Kind: parseKind(kind)}
}

// splitObject walks every token of the line (depth, duplicate names, finite numbers) and
// returns the members of the outer object.
func splitObject(line []byte) (map[string]jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))
	if d.PeekKind() != '{' {
		return nil, malformed("it is not an object")
	}
	for n, from := 0, int64(0); ; n++ {
		if n == MaxTokens {
			return nil, malformed("more than %d parts", MaxTokens)
		}
		t, err := d.ReadToken()
		if err != nil {
			return nil, malformed("it is not JSON")
		}
		size := d.InputOffset() - from
		from += size
		if t.Kind() == '0' {
			if size > maxAtom {
				return nil, malformed("a number is too long")
			}
			if _, err := finite(t.String()); err != nil {
				return nil, err
			}
		}
		if d.StackDepth() > MaxDepth {
			return nil, malformed("nested deeper than %d levels", MaxDepth)
		}
		if d.StackDepth() == 0 {
			break
		}
	}
	if len(bytes.Trim(line[d.InputOffset():], " \t\r")) > 0 {
		return nil, malformed("data after the object")
	}
	return members(line)
}

func members(object jsontext.Value) (map[string]jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(object))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, malformed("it is not an object")
	}
	m := map[string]jsontext.Value{}
	for d.PeekKind() == '"' {
		from := d.InputOffset()
		name, err := d.ReadToken()
		if err != nil {
			return nil, malformed("it is not JSON")
		}
		if d.InputOffset()-from > maxAtom {
			return nil, malformed("a name is too long")
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil, malformed("it is not JSON")
		}
		end := d.InputOffset() // a part of the object itself: nothing is copied
		m[key] = object[end-int64(len(v)) : end : end]
	}
	return m, nil
}

func finite(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, malformed("a number is out of range")
	}
	return v, nil
}

// fields takes typed leaves out of an object. The first fault sticks and names the key,
// never its value.
type fields struct {
	m    map[string]jsontext.Value
	path string
	err  error
}

func (f *fields) fault(key, want string) {
	if f.err == nil {
		f.err = malformed("%s%s must be %s", f.path, key, want)
	}
}

// has says whether the key is there and not null.
func (f *fields) has(key string) bool {
	v, ok := f.m[key]
	return ok && v.Kind() != 'n'
}

func (f *fields) str(key string, limit int) string {
	v, ok := f.m[key]
	if !ok || v.Kind() != '"' {
		f.fault(key, "a text")
		return ""
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil || len(b) > limit || strings.ContainsFunc(string(b), control) {
		f.fault(key, fmt.Sprintf("a text of at most %d bytes without control characters", limit))
		return ""
	}
	return string(b)
}

func control(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' }

func (f *fields) boolean(key string) bool {
	v, ok := f.m[key]
	if !ok || v.Kind() != 't' && v.Kind() != 'f' {
		f.fault(key, "true or false")
		return false
	}
	return v.Kind() == 't'
}

func (f *fields) number(key string) float64 {
	v, ok := f.m[key]
	if !ok || v.Kind() != '0' {
		f.fault(key, "a number")
		return 0
	}
	n, err := finite(string(v))
	if err != nil {
		f.fault(key, "a finite number")
	}
	return n
}

func (f *fields) integer(key string) int64 {
	n := f.number(key)
	if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		f.fault(key, "a whole number")
		return 0
	}
	return int64(n)
}

func (f *fields) count(key string) uint64 {
	n := f.integer(key)
	if n < 0 {
		f.fault(key, "a whole number that is not negative")
		return 0
	}
	return uint64(n)
}

func (f *fields) vec3(key string) [3]float64 {
	var out [3]float64
	v, ok := f.m[key]
	if !ok || v.Kind() != '[' {
		f.fault(key, "three numbers")
		return out
	}
	items, err := array(v, len(out)+1)
	if err != nil || len(items) != len(out) {
		f.fault(key, "three numbers")
		return out
	}
	for i, it := range items {
		if it.Kind() != '0' {
			f.fault(key, "three numbers")
			return out
		}
		if out[i], err = finite(string(it)); err != nil {
			f.fault(key, "three finite numbers")
		}
	}
	return out
}

func (f *fields) object(key string) *fields {
	sub := &fields{path: f.path + key + "."}
	v, ok := f.m[key]
	if !ok || v.Kind() != '{' {
		f.fault(key, "an object")
		sub.err = f.err
		return sub
	}
	sub.m, sub.err = members(v)
	return sub
}

// take moves the fault of an inner object outwards.
func (f *fields) take(sub *fields) {
	if f.err == nil {
		f.err = sub.err
	}
}

// array splits a list; it stops after limit items.
func array(v jsontext.Value, limit int) ([]jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
		return nil, malformed("it is not a list")
	}
	var out []jsontext.Value
	for d.PeekKind() != ']' && len(out) < limit {
		it, err := d.ReadValue()
		if err != nil {
			return nil, malformed("it is not JSON")
		}
		end := d.InputOffset()
		out = append(out, v[end-int64(len(it)):end:end])
	}
	return out, nil
}
