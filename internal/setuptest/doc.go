// Package setuptest holds the tests of the set-up scripts. They run the real scripts in a copy
// of the repository's frame, with stand-ins for compilers and package managers and no network.
package setuptest
