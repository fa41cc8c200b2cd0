//go:build ignore && (386 || arm || mips || mipsle || wasm)

package dlpack

// The mirrors of this package have the layout of C only on 64-bit platforms. The name below is
// undefined: it is the text of the compile error.
var _ = this_package_needs_a_64_bit_platform
