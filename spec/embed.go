// Package spec holds the single source of truth, dlpack.yaml, and the backends, as bytes. It
// decodes nothing; internal/spec does.
package spec

import "embed"

// File is the name under which findings in the embedded spec are reported.
const File = "spec/dlpack.yaml"

// YAML is the spec of every DLPack release.
//
//go:embed dlpack.yaml
var YAML []byte

// Schema is the JSON Schema of specs, for editors.
//
//go:embed schema.json
var Schema []byte

// Backends are the descriptions of the backends for devices.
//
//go:embed backends
var Backends embed.FS

// Hosts are the structs, constants and functions of the hosts that call kernels.
//
//go:embed hosts
var Hosts embed.FS
