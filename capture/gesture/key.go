package gesture

import (
	"fmt"
	"strings"
)

// Key is a key that can be the talk key. The set is closed: a name that is not in it is refused, since a program that
// waits for a key that never comes looks broken.
type Key struct {
	name     string
	code     uint16 // of linux/input-event-codes.h
	terminal bool   // a terminal can tell it from what is typed
}

// keys is the one table. The names are those that terminals and documentation use.
var keys = []Key{
	{"enter", 28, true}, {"space", 57, true}, {"tab", 15, true},
	{"f1", 59, true}, {"f2", 60, true}, {"f3", 61, true}, {"f4", 62, true}, {"f5", 63, true}, {"f6", 64, true},
	{"f7", 65, true}, {"f8", 66, true}, {"f9", 67, true}, {"f10", 68, true}, {"f11", 87, true}, {"f12", 88, true},
	{"f13", 183, true}, {"f14", 184, true}, {"f15", 185, true}, {"f16", 186, true},
	{"insert", 110, true}, {"pause", 119, false}, {"scrolllock", 70, false}, {"capslock", 58, false}, {"menu", 127, false},
	{"rightctrl", 97, false}, {"rightalt", 100, false}, {"rightshift", 54, false}, {"leftmeta", 125, false}, {"rightmeta", 126, false},
}

// DefaultKey begins and ends a take on every terminal.
const DefaultKey = "enter"

// ParseKey returns the key with this name.
func ParseKey(name string) (Key, error) {
	var known []string
	for _, k := range keys {
		if k.name == name {
			return k, nil
		}
		known = append(known, k.name)
	}
	return Key{}, fmt.Errorf("there is no key %q; known are %s", name, strings.Join(known, " "))
}

// String returns the name.
func (k Key) String() string { return k.name }

// InTerminal says whether a terminal reports the key to a program.
func (k Key) InTerminal() bool { return k.terminal }
