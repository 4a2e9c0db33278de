package grammar

import "testing"

func TestKey(t *testing.T) {
	for _, c := range []struct {
		c    Command
		want string
	}{
		{GoTo{Blocks(1), -50, Blocks(3)}, "goto 1 -0.5 3"},
		{Stop{}, "stop"},
		{Say{"Ahoj, Ľudia!"}, "say ahoj ludia"},
		{Say{"ahoj ludia"}, "say ahoj ludia"},
	} {
		if got := Key(c.c); got != c.want {
			t.Errorf("%v: %q, want %q", c.c, got, c.want)
		}
	}
}
