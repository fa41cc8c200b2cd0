package device

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
)

// sources lists the files of a backend: those that all have, and its implementation's.
func sources(b *backend.Backend) []emit.Asset {
	name := b.Name
	return slices.Concat(
		emit.Copies("device", "", common...),
		emit.Copies("device", "conformance", conformance...), // a program, which is no part of a package in Go
		[]emit.Asset{
			{From: "device/entry.h.tmpl", To: "dlpackgen_" + name + ".h"},
			{From: "device/driver.h.tmpl", To: "device_driver.h"},
			{From: "device/device.go", To: name + ".go"},
		},
		implementations[b.Implementation](name))
}

// implementations list the files of each implementation, for the name of a backend.
var implementations = map[string]func(name string) []emit.Asset{
	"cuda":         func(name string) []emit.Asset { return onStreams(name, "contexts_current.h") },
	"hip":          func(name string) []emit.Asset { return onStreams(name, "ordinals_current.h") },
	"level_zero":   onLevelZero,
	backend.Custom: ofVendor,
}

// onStreams lists those of a driver like CUDA's; current is how a call finds its device.
func onStreams(name, current string) []emit.Asset {
	return slices.Concat(emit.Copies("device", "", streams...), emit.Copies("device", "", numbered...), []emit.Asset{
		{From: "device/" + current, To: "streams_current.h"},
		{From: "device/streams.c", To: "dlpackgen_" + name + ".c"},
	})
}

func onLevelZero(name string) []emit.Asset {
	return append(emit.Copies("device", "", levelZero...),
		emit.Asset{From: "device/levelzero.c", To: "dlpackgen_" + name + ".c"},
		emit.Asset{From: "device/sycl.cpp", To: "dlpackgen_" + name + "_sycl.cpp"},
		emit.Asset{From: "device/usm.h", To: "dlpackgen_usm.h"})
}

// ofVendor lists those of a backend whose driver a vendor calls, with the files that are
// the vendor's once they are created.
func ofVendor(name string) []emit.Asset {
	return slices.Concat(emit.Copies("device", "", vendor...), emit.Copies("device", "", numbered...), []emit.Asset{
		{From: "device/vendor.c", To: "dlpackgen_" + name + ".c"},
		{From: "device/vendor_impl.c", To: name + "_impl.c", Once: true},
		{From: "device/vendor_hooks.h", To: "conformance/" + name + "_hooks.h", Once: true},
	})
}

var (
	// common are for every backend.
	common = []string{
		"device_answer.h", "device_error.h", "device_library.h", "device_request.h", "device_result.h",
		"device_side.h", "device_start.h", "device_stream.h", "device_tensor.h", "dlpackgen_backend.h",
		"dlpackgen_backend.hpp", "doc.go", "off.go",
	}
	conformance = []string{
		"conformance.c", "conformance.h.tmpl", "conformance_check.h", "conformance_copy.h",
		"conformance_hooks.h", "conformance_order.h",
	}
	// numbered are for those whose streams have numbers beside handles.
	numbered = []string{"numbers_read.h", "numbers_rules.h.tmpl"}
	streams  = []string{
		"streams_context.h", "streams_copy.h", "streams_load.h", "streams_memory.h", "streams_order.h",
		"streams_pointer.h", "streams_release.h", "streams_rules.h.tmpl",
	}
	levelZero = []string{
		"levelzero_copy.h", "levelzero_load.h", "levelzero_memory.h", "levelzero_order.h",
		"levelzero_pointer.h", "levelzero_types.h", "sycl_copy.hpp", "sycl_devices.hpp",
		"sycl_find.sh", "sycl_memory.hpp", "sycl_order.hpp", "usm.go", "usm_copy.h", "usm_flags.go", "usm_off.go",
		"usm_pointer.h", "usm_stream.h", "usm_table.h",
	}
	vendor = []string{
		"vendor_copy.h", "vendor_impl.h", "vendor_load.h", "vendor_memory.h", "vendor_rules.h.tmpl",
		"vendor_stream.h",
	}
)
