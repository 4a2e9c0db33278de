package grammar

import (
	"fmt"
	"hash/fnv"
)

// machineVersion changes when the number machine or the moves of the automaton change.
const machineVersion = 1

// tableDigest identifies the tables of some languages and the machine that reads them.
func tableDigest(speakers []*speller) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%d\n", machineVersion)
	for _, s := range speakers {
		t := s.table
		fmt.Fprintf(h, "%s %v %v\n", t.code, t.commands, t.joints)
		for _, n := range t.numerals {
			fmt.Fprintf(h, "%d %d %q %q %d\n", n.class, n.value, n.forms, n.after, n.roles)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
