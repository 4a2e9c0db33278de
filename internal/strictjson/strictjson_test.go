package strictjson

import "testing"

func TestFind(t *testing.T) {
	doc := []byte("{\n \"a\": {\"b\": [1,\n  2],\n \"c\": null},\n \"e\": \"\"\n}")
	for _, c := range []struct {
		path string
		line int
		ok   bool
	}{
		{"/a", 2, true}, {"/a/b", 2, true}, {"/a/b/1", 3, true}, {"/a/c", 4, true}, {"/e", 5, true},
		{"/a/none", 2, false}, {"/a/b/7", 2, false}, {"/ab", 1, false}, {"/none/at/all", 1, false},
	} {
		if line, ok := Find(doc, c.path); line != c.line || ok != c.ok {
			t.Errorf("%s: line %d, %v", c.path, line, ok)
		}
	}
}
