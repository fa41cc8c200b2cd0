//go:build ignore

// Package dlpacktest tests the bindings beside it on the machine, compiler and
// platform at hand, against a producer and a consumer written in C. It needs
// nothing but the standard library, and no DLPack library.
//
// A module that vendors the bindings loses their test files, but keeps this
// package. Importing it from a test vendors it too:
//
//	func TestDLPack(t *testing.T) { dlpacktest.Run(t) }
//
// The tests count what the whole program exports, so nothing else may use the
// bindings while they run.
package dlpacktest
