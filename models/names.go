package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"blockworld-voice/internal/atomicfile"
	"blockworld-voice/internal/digest"
	"blockworld-voice/internal/strictjson"
)

const (
	namesFile   = "names.json"
	lockFile    = "lock"
	filePrefix  = "sha256-"
	tempPrefix  = "partial-"
	namesSchema = 1
)

// table is names.json.
type table struct {
	Schema int      `json:"schema"`
	Models []record `json:"models"`
}

type record struct {
	Name   string        `json:"name"`
	SHA256 digest.Digest `json:"sha256"`
	Size   int64         `json:"size"`
	Origin string        `json:"origin"`
	Trust  Trust         `json:"trust"`
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// CheckName says why a name can't be given to a model; nil when it can.
func CheckName(name string) error {
	if !validName.MatchString(name) || strings.HasPrefix(name, filePrefix) {
		return misuse("use up to 64 small letters, digits, dots, dashes and underscores, a letter or digit first", nil, "%q can't be the name of a model", name)
	}
	return nil
}

func (s *Store) readTable() (table, error) {
	t := table{Schema: namesSchema}
	b, err := os.ReadFile(filepath.Join(s.dir, namesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = strictjson.Unmarshal(b, &t)
	}
	if err == nil && t.Schema != namesSchema {
		err = fmt.Errorf("its schema is %d, this program knows %d", t.Schema, namesSchema)
	}
	for i := 0; err == nil && i < len(t.Models); i++ {
		r := t.Models[i]
		if err = CheckName(r.Name); err == nil && (r.SHA256.IsZero() || r.Size <= 0) {
			err = fmt.Errorf("the entry of %s has no digest or no size", r.Name)
		}
	}
	if err != nil {
		return table{}, failf("move it away and add the models again; their files stay as they are", err,
			"the table of model names %s can't be used", filepath.Join(s.dir, namesFile))
	}
	return t, nil
}

func (t *table) find(name string) (record, bool) {
	for _, r := range t.Models {
		if r.Name == name {
			return r, true
		}
	}
	return record{}, false
}

// change reads the table, lets edit change it, and writes it, while no other process does.
func (s *Store) change(edit func(*table) error) error {
	lock := flock.New(filepath.Join(s.dir, lockFile), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return failf("check that the folder can be written", err, "the model store can't be locked")
	}
	defer lock.Unlock()
	t, err := s.readTable()
	if err != nil {
		return err
	}
	if err := edit(&t); err != nil {
		return err
	}
	slices.SortFunc(t.Models, func(a, b record) int { return strings.Compare(a.Name, b.Name) })
	b, err := strictjson.Marshal(t)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(s.dir, namesFile), b)
}
