//go:build dlpackgen_release

package internal

import "embed"

// Sources is empty in the binaries of a release, where the linker puts the digest of these files
// instead (tools/release). Else a Python wheel would be a tenth larger.
var Sources embed.FS
