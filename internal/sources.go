//go:build !dlpackgen_release

// Package internal embeds the sources of the packages below it that decide what output
// looks like, for the digest that tells two builds of the tool apart. It interprets
// nothing; internal/tool does.
package internal

import "embed"

// Sources has the packages that the targets and the config are made of, in folders
// named as below internal.
//
//go:embed backend/*.go cdecl/*.go config/*.go config/*.json diag/*.go emit/*.go emit/*/*.go hosts/*.go jsontext/*.go kernel/*.go kernel/*.txt kernel/*/*.go layout/*.go modeldoc/*.go order/*.go relpath/*.go spec/*.go targets/*.go template/*.go yaml/*.go
var Sources embed.FS
