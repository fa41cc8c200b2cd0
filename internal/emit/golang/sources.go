package golang

// runtime are the sources of the package itself.
var runtime = []string{
	"array.go", "at.go", "batch.go", "blocks.go", "borrow.go", "buffer.c", "buffer.go", "buffer.h", "cgo.go", "data.go",
	"debug_off.go", "debug_on.go", "doc.go", "errors.go", "exchange.c", "exchange.go",
	"exchange.h", "exchange_error.go", "export.c", "export.go", "export.h", "export_packed.go",
	"fill.go", "floats.go", "format.go", "hooks.go", "import.go", "leaks.go", "names.go",
	"object.c", "object.h", "packed.go", "pooled.go", "readonly.go", "runs.go", "shared.c",
	"shared.h", "slots.go", "store.go", "store_check.go", "strided.go", "table.c", "table.go", "table.h",
	"tensor.go", "unpooled.go", "unsupported.go", "validate.go", "view.go",
}

// python are the sources of package dlpackpy.
var python = []string{
	"call.go", "convert.c", "doc.go", "errors.go", "tensor_type.c", "module.c", "module.go", "python.c",
	"python.h", "import.c", "tensors.go",
}

// conformance are the sources of package dlpacktest.
var conformance = []string{
	"doc.go", "exchange.go", "flags.go", "hostile.go", "layouts.go", "lifetimes.go",
	"ownership.go", "plain.go", "roundtrips.go", "run.go", "run_test.go", "sanitized.go",
	"foreign.c", "foreign.go", "foreign.h", "strides.go", "threads.go",
}

// hostCalls are the sources of package tvmffi, except those generated from tvm-ffi's ABI.
var hostCalls = []string{
	"call.go", "call.h", "doc.go", "errors.go", "functions.go", "library.go", "objects.go", "owner.go", "values.go",
}
