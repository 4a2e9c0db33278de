package transcribe

import (
	"testing"

	"blockworld-voice/internal/whispercpp"
)

func TestTreeSharesBeginnings(t *testing.T) {
	got := tree([][]Token{{1, 2, 3}, {1, 2, 4}, {5}, {1, 2}}, 10)
	want := []struct {
		token  Token
		pos    int32
		parent int
		texts  whispercpp.Seqs
		ends   int
	}{{1, 10, -1, 0b1011, 0}, {2, 11, 0, 0b1011, 1}, {3, 12, 1, 0b0001, 1}, {4, 12, 1, 0b0010, 1}, {5, 10, -1, 0b0100, 1}}
	if len(got) != len(want) {
		t.Fatalf("%d pieces, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.token != w.token || g.pos != w.pos || g.parent != w.parent || g.texts != w.texts || len(g.ends) != w.ends {
			t.Errorf("piece %d: %+v, want %+v", i, g, w)
		}
	}
}
