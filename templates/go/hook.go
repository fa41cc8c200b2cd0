//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

package dlpack

// #include "export.h"
import "C"

import (
	"log"
	"runtime/cgo"
	"runtime/debug"
)

// The C deleter calls it for a tensor with OnRelease. A panic must not unwind the C frames of its
// callers, which could not handle it.
//
//export dlp_00000000_call_hook
func dlp_00000000_call_hook(hook C.uintptr_t) {
	defer func() {
		if reason := recover(); reason != nil {
			log.Printf("dlpack: panic in OnRelease: %v\n%s", reason, debug.Stack())
		}
	}()
	handle := cgo.Handle(hook)
	call := handle.Value().(func())
	handle.Delete()
	call()
}
