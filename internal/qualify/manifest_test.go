package qualify

import (
	"errors"
	"strings"
	"testing"
)

func TestReadManifest(t *testing.T) {
	m, err := ReadManifest([]byte("file\tlanguage\texpect\ttext\tkind\tvoice\r\n" +
		"sk/a.wav\tsk\tgoto 1 -0.5 3\tchoď na\thmm\tv\r\n" +
		"sk/oog/b.wav\tsk\trefuse\t\t\t\n" +
		"en/c.wav\ten\tsay Hello, World!\t\t\t\n\n" +
		"en/coords/d.wav\ten\tcoords 10 20 -5\t\t\t\n" +
		"en/number/e.wav\ten\t-29\t\t\t\n" +
		"en/number/minus.wav\ten\t\t\t\t\n"))
	if err != nil {
		t.Fatal(err)
	}
	if m.LeftOut != 1 || len(m.Labels) != 5 {
		t.Fatalf("%d rows, %d left out", len(m.Labels), m.LeftOut)
	}
	for i, want := range []struct {
		task       Task
		key, group string
	}{
		{Command, "goto 1 -0.5 3", "other speech"}, {Other, "", "oog"}, {Command, "say hello world", "other speech"},
		{Coordinates, "coords 10 20 -5", "coords"}, {Number, "-29", "number"},
	} {
		if l := m.Labels[i]; l.Task != want.task || l.Key != want.key || l.Group != want.group {
			t.Errorf("%s: %v %q %q, want %v", l.File, l.Task, l.Key, l.Group, want)
		}
	}
	if l := m.Labels[0]; l.Text != "choď na" || l.Kind != "hmm" || l.Voice != "v" {
		t.Errorf("%+v", l)
	}
}

func TestManifestErrors(t *testing.T) {
	const head = "file\tlanguage\texpect\n"
	for name, c := range map[string]struct {
		data, want string
	}{
		"bytes":            {"file\xff", "it is no UTF-8 text"},
		"empty":            {"", "no row expects anything"},
		"only left out":    {head + "a.wav\tsk\t\n", "no row expects anything"},
		"column":           {"file\tlanguage\na.wav\tsk\n", "line 1: there is no column expect"},
		"cells":            {head + "a.wav\tsk\tstop\tmore\n", "line 2: it has 4 cells, the first line names 3 columns"},
		"language":         {head + "a.wav\tde\tstop\n", `line 2: unknown language "de"`},
		"twice":            {head + "a.wav\tsk\tstop\na.wav\tsk\tstop\n", "line 3: the file a.wav stands in line 2 already"},
		"outside":          {head + "../a.wav\tsk\tstop\n", `line 2: the file "../a.wav" is no path below`},
		"absolute":         {head + "/a.wav\tsk\tstop\n", `line 2: the file "/a.wav" is no path below`},
		"verb":             {head + "a.wav\tsk\tdig 1 2 3\n", `line 2: expect "dig 1 2 3": it is none of the four forms`},
		"two numbers":      {head + "a.wav\tsk\tgoto 1 2\n", `line 2: expect "goto 1 2": three numbers are needed`},
		"not canonical":    {head + "a.wav\tsk\tgoto 01 2 3\n", `"01" is not the shortest form of 1`},
		"negative zero":    {head + "a.wav\tsk\t-0\n", "none of the four forms"},
		"out of range":     {head + "a.wav\tsk\tcoords 1 2 30001\n", `"30001" is no coordinate`},
		"argument":         {head + "a.wav\tsk\tstop now\n", "nothing follows after stop"},
		"nothing to say":   {head + "a.wav\tsk\tsay \n", "line 2"},
		"not a number":     {head + "a.wav\tsk\tNaN\n", "none of the four forms"},
		"decimals too far": {head + "a.wav\tsk\t1.234\n", "none of the four forms"},
	} {
		_, err := ReadManifest([]byte(c.data))
		var bad *ManifestError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
			continue
		}
		if bad.Hint() == "" || strings.ContainsRune(bad.Error()+bad.Hint(), '\n') {
			t.Errorf("%s: what to do is %q", name, bad.Hint())
		}
	}
}
