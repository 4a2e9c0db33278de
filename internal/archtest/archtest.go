// Package archtest holds the tests that keep the shape of the repository: who may import whom, which packages may
// reach native code, one documentation comment a package, and what no tracked file may contain.
package archtest
