// Package backend describes backends for devices as data: the driver's library with its functions,
// constants and errors, and DLPack's device types and stream numbers. internal/emit/device renders
// the descriptions.
package backend

import (
	"fmt"

	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/yaml"
	source "github.com/dlpackgen/dlpackgen/spec"
)

// Version is the only value of the key `backend`.
const Version = 1

// Backend is one valid description.
type Backend struct {
	Name  string // of files, C names and the target
	Title string // of messages
	Doc   string
	// Implementation is one of Implementations: the sources of templates/device that serve it.
	Implementation string
	InstallHint    string // what to install if the library is missing
	StatusType     string // C type that the driver's functions return by default; 0 is success
	Call           string // calling convention on Windows; "" elsewhere
	MinVersion     int64  // of the driver

	Devices   []Device
	Streams   Streams
	Library   Library
	Handles   []Handle
	Constants []Constant
	Functions []Function
	Errors    []Error
}

// Device is a DLPack device type of the backend.
type Device struct {
	Type   string // an enumerator of DLDeviceType
	Value  int64  // of a new enumerator; NoValue if DLPack has it
	Memory string // one of Memories
	ID     string // one of IDs
	Torch  string // PyTorch's key for tensors there, one of TorchKeys; "" for none
}

// IDIsZero reports whether the id of such a device is always 0.
func (d Device) IDIsZero() bool { return d.ID == "zero" }

// NoValue is the value of a device whose type another section declares.
const NoValue = -1

// Streams describes how DLPack numbers the streams.
type Streams struct {
	Given    bool    // the device has streams
	Table    string  // of the spec; "" where Rejected has the rules
	None     int64   // the number for None
	Rejected []int64 // rejected numbers
	Aliases  []StreamAlias
}

// StreamAlias is a stream number that is not a handle, and the handle that it stands for.
type StreamAlias struct{ Number, Handle int64 }

// Library lists the libraries that are opened at run time.
type Library struct {
	Linux, Windows []string
	Lookups        []Function // give the others by version, the best first
	LookupFlags    int64
}

// Handle is a type of the driver, under the name that the sources use.
type Handle struct{ Name, C, Native string }

// Constant is a number of the driver, under the name that the sources use.
type Constant struct {
	Name   string
	Value  int64
	Native string
	Was    *Past // nil if it never changed
}

// Past is the value of a constant in drivers before a version.
type Past struct{ Until, Value int64 }

// Function is a function of the driver.
type Function struct {
	Name     string // of the field in the table
	Symbol   string // the name that is looked up
	Plain    string // its name in the library
	Since    int64  // version of the driver in which it got this form
	Params   string // in C
	Returns  string // type in C; "" is the backend's StatusType
	Optional bool
}

// Error is an error code of the driver's functions.
type Error struct {
	Name  string
	Value int64
	Kind  string // one of Kinds
	Text  string
}

// Memories are the kinds of memory.
var Memories = []string{"device", "host", "managed"}

// IDs are the meanings of a device_id.
var IDs = []string{"ordinal", "zero", "runtime_index"}

// Implementations are the sources under templates/device that a description can select: for an API
// like CUDA, HIP or Level Zero, or Custom.
var Implementations = []string{"cuda", "hip", "level_zero", Custom}

// Custom is the implementation of a backend that its vendor completes.
const Custom = "custom"

// TorchKeys are the dispatch keys of PyTorch that vendors may use.
var TorchKeys = []string{"PrivateUse1"}

// Kinds are the codes of dlpackgen_backend.h that an error of a driver may have.
var Kinds = []string{
	"invalid_device", "invalid_stream", "capturing", "driver_error", "shutting_down", "device_lost", "no_device",
	"driver_too_old", "out_of_memory", "driver_stub",
	"unavailable", "unsupported",
}

// Embedded returns a built-in backend.
func Embedded(name string) *Backend {
	b, _ := embedded(name)
	return b
}

// EmbeddedFor returns a built-in backend, and its comparison with a release, which may be of a
// user's spec.
func EmbeddedFor(name string, r *spec.Release) (*Backend, []diag.Diagnostic) {
	b, m := embedded(name)
	return b, b.Compare(r, m)
}

func embedded(name string) (*Backend, *yaml.Map) {
	file := "backends/" + name + ".yaml"
	src, err := source.Backends.ReadFile(file)
	if err != nil {
		panic(fmt.Sprintf("unreachable: no such file is embedded: %v", err))
	}
	diags := &diag.List{}
	b, m := decodeFile("spec/"+file, src, diags)
	if b == nil {
		panic(fmt.Sprintf("unreachable: its tests keep the embedded backends valid: %v", diags.Sorted()[0]))
	}
	return b, m
}
