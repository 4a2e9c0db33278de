package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// checkSchema reads only the top-level "schema" of a JSON document, so that a document of a later version is told
// from a broken one before its unknown members are met.
func checkSchema(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	t, err := d.ReadToken()
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if t.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		if name.String() != "schema" {
			if err := d.SkipValue(); err != nil {
				return fmt.Errorf("not JSON: %w", err)
			}
			continue
		}
		v, err := d.ReadValue()
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("schema %s is not a positive whole number", v)
		}
		if n > Schema {
			return &newerSchema{n}
		}
		return nil
	}
	return errors.New("the document has no schema number")
}
