package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"blockworld-voice/transcribe"
)

// A speech profile changes the limits that it names, and no others.
func TestSpeechProfileLimits(t *testing.T) {
	dir := t.TempDir()
	read := func(recognition string) (settings, error) {
		path := filepath.Join(dir, "speech.json")
		if err := os.WriteFile(path, []byte(`{"workspace":"`+dir+`"`+recognition+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := readSpeechProfile(path)
		s := settings{thresholds: transcribe.Provisional()}
		s.apply(d)
		return s, err
	}
	plain, err := read("")
	if err != nil || plain.thresholds.Name != transcribe.Provisional().Name {
		t.Fatalf("without limits: %+v, %v", plain.thresholds, err)
	}
	s, err := read(`,"recognition":{"coordinates":{"gap":7}}`)
	want := transcribe.Provisional().Limit
	if err != nil || !strings.HasPrefix(s.thresholds.Name, "speech profile") {
		t.Fatalf("%+v, %v", s.thresholds, err)
	}
	for class, l := range s.thresholds.Limit {
		w := want[class]
		if class == transcribe.Coordinates {
			w.Gap = 7
		}
		if l != w {
			t.Errorf("%v: %+v, want %+v", class, l, w)
		}
	}
	for _, bad := range []string{`{"coordinates":{"gap":1e9}}`, `{"coordinates":{"nearness":1}}`, `{"walks":{}}`} {
		if _, err := read(`,"recognition":` + bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// Values that make no sense are refused with their place, and a key that is there is never taken for a missing one.
func TestSpeechProfileValues(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ keys, path string }{
		{`"recorder":{"max_seconds":-5}`, "/recorder/max_seconds"}, {`"recorder":{"max_seconds":0}`, "/recorder/max_seconds"}, {`"recorder":{"max_seconds":121}`, "/recorder/max_seconds"},
		{`"recorder":{"tail_ms":-1}`, "/recorder/tail_ms"}, {`"recorder":{"device":""}`, "/recorder/device"}, {`"recorder":{"device":"a\nb"}`, "/recorder/device"},
		{`"model":""`, "/model"}, {`"model":"a\u0000b"`, "/model"}, {`"languages":[]`, "/languages"}, {`"languages":["sk","sk"]`, "/languages/1"},
		{`"voices":{"sk":""}`, "/voices/sk"}, {`"voices":{"en":"--help"}`, "/voices/en"}, {`"voices":{"cs":"a b;c"}`, "/voices/cs"},
		{`"recognition":{"text":{"d":101}}`, "/recognition/text/d"}, {`"recognition":{"plain":{"pace":101}}`, "/recognition/plain/pace"},
		{`"recorder":{"device":"hw:0","max_seconds":20.5,"tail_ms":0},"voices":{"en":"en-us+f3"},"languages":["cs"],"model":"base"`, ""},
	} {
		path := filepath.Join(dir, "speech.json")
		if err := os.WriteFile(path, []byte("{\"workspace\":\""+dir+"\",\n"+c.keys+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readSpeechProfile(path)
		if c.path == "" {
			if err != nil {
				t.Errorf("%s: %v", c.keys, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.path+":") || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", c.keys, err)
		}
	}
}

// A document is read up to its bound, and never from a pipe or a folder.
func TestReadFileIsBounded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "d")
	if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := readFile(path, 4096); err != nil || len(data) != 4096 {
		t.Error(len(data), err)
	}
	if _, err := readFile(path, 4095); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, pipe, filepath.Join(dir, "none")} {
		if _, err := readFile(path, 4096); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}
