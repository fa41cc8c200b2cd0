// Package hosts describes the parts of a host's ABI that callers use, as data: structs, constants
// and functions of its headers, with their version. With a description, a caller compiles without
// those headers. templates/hosts renders it from a View.
package hosts

import (
	"fmt"
	"sync"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	source "github.com/dlpackgen/dlpackgen/spec"
)

// Version is the only value of the key `host`.
const Version = 1

// Host is one valid description. Its numbers are those of 64-bit systems.
type Host struct {
	Name   string // of C names
	Title  string // of comments and messages
	Source Source

	Constants []Constant
	Structs   []Struct
	Functions []Function
	// Lookup renders a struct of all functions, and the table of symbols with which it is filled.
	Lookup bool
}

// Source is the origin of the declarations.
type Source struct {
	Package string // of PyPI, or a Go module
	Version string
	Include string   // the folder of the headers, in the package; "" for its root
	Headers []string // below Include
}

// Constant is a number of the host.
type Constant struct {
	Name   string
	Value  int64
	Native string // an expression of the host's headers
}

// Struct is a struct of the host, as far as callers use it.
type Struct struct {
	Name        string
	Native      string
	Size, Align int64
	Fields      []Field // by offset; those at one offset are a union
}

// Field is a member of a struct.
type Field struct {
	Name   string
	Native string // in the host's headers
	Type   string // C, with the structs of the description by their names
	Offset int64
	Since  string // the version of the host that added it; "" where it was always there

	size int64 // of the type
}

// Function is a function that is looked up at run time by its symbol.
type Function struct {
	Name     string
	Symbol   string
	MacOS    string // the symbol there, if it differs
	Native   string // in the host's headers; "" for a symbol of C++ that is compared as a text
	Returns  string
	Params   string
	Since    string
	Optional bool // callers work without it
}

// embedded caches the built-in descriptions, by name: decoding one takes milliseconds.
var embedded sync.Map

// Embedded returns a built-in description, which all its callers share and none may change.
func Embedded(name string) *Host {
	h, found := embedded.Load(name)
	if !found {
		h, _ = embedded.LoadOrStore(name, decodeEmbedded(name))
	}
	return h.(*Host) //nolint:forcetypeassert // only hosts are stored
}

func decodeEmbedded(name string) *Host {
	file := "hosts/" + name + ".yaml"
	src, err := source.Hosts.ReadFile(file)
	if err != nil {
		panic(fmt.Sprintf("unreachable: no such file is embedded: %v", err))
	}
	diags := &diag.List{}
	h := Decode("spec/"+file, src, diags)
	if h == nil {
		panic(fmt.Sprintf("unreachable: its tests keep the embedded hosts valid: %v", diags.Sorted()[0]))
	}
	return h
}
