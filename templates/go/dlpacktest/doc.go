//go:build ignore

// Package dlpacktest tests the bindings in its parent folder on your machine, compiler and
// platform, with a producer and a consumer in C. It needs only the standard library, and no DLPack
// library.
//
// Vendoring omits the test files of the bindings. To vendor this package, import it in a test:
//
//	func TestDLPack(t *testing.T) { dlpacktest.Run(t) }
//
// The tests count the exports of the whole program, so no other code may use the bindings while
// they run.
package dlpacktest
