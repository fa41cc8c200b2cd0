//go:build dlpackgen_release

package internal

import "embed"

// Sources is empty in release binaries. They contain the digest of these files instead, which the
// linker sets (tools/release). Otherwise, a Python wheel would be a tenth larger.
var Sources embed.FS
