//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpacktest_test

import (
	"testing"

	"dlpackgen.invalid/dlpack/dlpacktest"
)

func TestConformance(t *testing.T) { dlpacktest.Run(t) }
