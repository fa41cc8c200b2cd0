//go:build ignore && cgo && !dlpackdebug && !(386 || arm || mips || mipsle || wasm)

package dlpack

// trace is empty in a build that does not detect leaks.
type trace struct{}

func (*Managed) track()   {}
func (*Managed) untrack() {}

func (*Batch) track()   {}
func (*Batch) untrack() {}

func (*share) track()   {}
func (*share) untrack() {}

func (*slot) track()   {}
func (*slot) untrack() {}

func leaks() []Leak { return nil }
