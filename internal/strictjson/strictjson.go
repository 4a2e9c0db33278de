// Package strictjson reads small JSON documents and accepts nothing that is doubtful:
// UTF-8 only, no duplicate names, no unknown names, no trailing data, bounded size and depth.
package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxSize is the largest document, in bytes.
	MaxSize = 64 << 10
	// MaxDepth is the deepest nesting of objects and arrays.
	MaxDepth = 16
)

// Error says where a document is at fault.
type Error struct {
	Path string // JSON pointer of the value, "" for the whole document
	Line int    // 1-based; 0 when the fault has no place
	Err  error
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Path != "" {
		fmt.Fprintf(&b, "%s: ", e.Path)
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Unmarshal reads data into v. Every error is an *Error.
func Unmarshal(data []byte, v any) error {
	if len(data) > MaxSize {
		return &Error{Err: fmt.Errorf("the document has %d bytes, at most %d are read", len(data), MaxSize)}
	}
	if err := checkShape(data); err != nil {
		return err
	}
	err := json.Unmarshal(data, v, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))
	if err == nil {
		return nil
	}
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		cause := sem.Err
		if cause == nil {
			cause = fmt.Errorf("a JSON %s can't be a %v", kindName(sem.JSONKind), sem.GoType)
		}
		return &Error{Path: string(sem.JSONPointer), Line: line(data, sem.ByteOffset), Err: cause}
	}
	return &Error{Err: err}
}

// Marshal writes v as indented JSON with a final newline and a fixed order of names.
func Marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// Line writes v as one line of JSON without a newline.
func Line(v any) ([]byte, error) { return json.Marshal(v, json.Deterministic(true)) }

func checkShape(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))
	for {
		if _, err := d.ReadToken(); err != nil {
			return shapeError(data, d, err)
		}
		if d.StackDepth() > MaxDepth {
			return &Error{Path: string(d.StackPointer()), Line: line(data, d.InputOffset()), Err: fmt.Errorf("nested deeper than %d levels", MaxDepth)}
		}
		if d.StackDepth() == 0 {
			break
		}
	}
	if rest := bytes.TrimLeft(data[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return &Error{Line: line(data, int64(len(data)-len(rest))), Err: errors.New("data after the document's end")}
	}
	return nil
}

func shapeError(data []byte, d *jsontext.Decoder, err error) error {
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		return &Error{Path: string(syn.JSONPointer), Line: line(data, syn.ByteOffset), Err: syn.Err}
	}
	return &Error{Path: string(d.StackPointer()), Line: line(data, d.InputOffset()), Err: fmt.Errorf("the document ends early: %w", err)}
}

func line(data []byte, off int64) int {
	off = min(max(off, 0), int64(len(data)))
	return 1 + bytes.Count(data[:off], []byte("\n"))
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{', '}':
		return "object"
	case '[', ']':
		return "array"
	}
	return "value"
}

// Find returns the line of the value at a path in a document that Unmarshal took, or, when there is none, that of the
// nearest object around it.
func Find(data []byte, path string) (at int, ok bool) {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	best, from := 0, int64(0)
	for {
		if _, err := d.ReadToken(); err != nil {
			return line(data, from), false
		}
		p := string(d.StackPointer())
		if p == path {
			return line(data, d.InputOffset()), true
		}
		if len(p) > best && strings.HasPrefix(path, p+"/") {
			best, from = len(p), d.InputOffset()
		}
	}
}
