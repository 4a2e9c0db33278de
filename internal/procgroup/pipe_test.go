package procgroup

import (
	"io"
	"testing"
)

func TestPiped(t *testing.T) {
	start := Piped(Spec{Path: "/bin/cat"})
	for range 2 {
		p, in, out, err := start()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(out)
		if err != nil || string(got) != "hello" {
			t.Errorf("%q, %v", got, err)
		}
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		_ = out.Close()
	}
	if _, _, _, err := Piped(Spec{Path: "/nowhere"})(); err == nil {
		t.Error("a program that is not there was started")
	}
}
