//go:build !dlpackgen_release

// Package internal embeds the sources of its subpackages that determine the output, for the digest
// that identifies a build. internal/tool computes the digest.
package internal

import "embed"

// Sources contains the packages of the targets and the config, in folders named as below internal.
//
//go:embed backend/*.go cdecl/*.go cformat/*.go config/*.go config/*.json diag/*.go emit/*.go emit/*/*.go hosts/*.go jsontext/*.go kernel/*.go kernel/*.txt kernel/*/*.go layout/*.go modeldoc/*.go order/*.go relpath/*.go spec/*.go targets/*.go template/*.go yaml/*.go
var Sources embed.FS
