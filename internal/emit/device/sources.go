package device

import (
	"slices"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/header"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// sources lists the files of a backend: the common files and those of its implementation. Files
// that only the backend's C source includes are parts of that source.
func sources(r *spec.Release, b *backend.Backend) []emit.Asset {
	name, v := b.Name, viewOf(r, b)
	return slices.Concat(
		header.Beside(r, "", header.DLPack),
		emit.Copies("device", "", interfaces...),
		[]emit.Asset{
			{From: "device/entry.h.tmpl", To: "dlpackgen_" + name + ".h", View: v},
			{From: "device/device.go", To: name + ".go"},
			// A program, which does not belong to the Go package.
			{From: "device/conformance.c", To: "conformance/conformance.c",
				Parts: append(emit.Copies("device", "", conformance...),
					emit.Asset{From: "device/conformance_device.h.tmpl", To: "conformance_device.h", View: v})},
			{From: "device/conformance_hooks.h", To: "conformance/conformance_hooks.h"},
		},
		implementations[b.Implementation](name, inside(r, v)))
}

// inside are the parts that the C of every backend can include.
func inside(r *spec.Release, v view) (all []emit.Asset) {
	own := append(emit.Copies("device", "", common...), emit.Asset{From: "device/driver.h.tmpl", To: "device_driver.h"})
	for _, part := range slices.Concat(emit.Showing(v, own), header.Inside(r)) {
		part.Spare = true
		all = append(all, part)
	}
	return all
}

// implementations list the files of each implementation, given the name of a backend and the parts
// that all sources can include.
var implementations = map[string]func(name string, shared []emit.Asset) []emit.Asset{
	"cuda": func(name string, shared []emit.Asset) []emit.Asset {
		return onStreams(name, "contexts_current.h", shared)
	},
	"hip": func(name string, shared []emit.Asset) []emit.Asset {
		return onStreams(name, "ordinals_current.h", shared)
	},
	"level_zero":   onLevelZero,
	backend.Custom: ofVendor,
}

// with returns those parts together with sources that have the same data.
func with(shared []emit.Asset, names ...string) []emit.Asset {
	return slices.Concat(shared, emit.Showing(shared[0].View, emit.Copies("device", "", names...)))
}

// onStreams lists the parts for a driver like CUDA's. current is the part that finds the device of
// a call.
func onStreams(name, current string, shared []emit.Asset) []emit.Asset {
	parts := append(with(shared, slices.Concat(streams, numbered)...),
		emit.Asset{From: "device/" + current, To: "streams_current.h"})
	return []emit.Asset{{From: "device/streams.c", To: "dlpackgen_" + name + ".c", Parts: parts}}
}

func onLevelZero(name string, shared []emit.Asset) []emit.Asset {
	return append(emit.Copies("device", "", "sycl_find.sh", "usm.go", "usm_flags.go", "usm_off.go"),
		emit.Asset{From: "device/levelzero.c", To: "dlpackgen_" + name + ".c",
			Parts: with(shared, slices.Concat(usm, levelZero)...)},
		emit.Asset{From: "device/sycl.cpp", To: "dlpackgen_" + name + "_sycl.cpp",
			Parts: with(shared, slices.Concat(usm, sycl)...)},
		emit.Asset{From: "device/usm.h", To: "dlpackgen_usm.h"})
}

// ofVendor lists the files of a custom backend, including the starter files.
func ofVendor(name string, shared []emit.Asset) []emit.Asset {
	const implementation = "vendor_impl.h"
	known := map[string]string{implementation: implementation}
	for _, part := range []string{"device_driver.h", "device_error.h", "device_result.h", "device_texts.h"} {
		known[part] = implementation
	}
	return []emit.Asset{
		{From: "device/vendor_impl.h", To: implementation, Parts: shared},
		{From: "device/vendor.c", To: "dlpackgen_" + name + ".c", Known: known,
			Parts: with(shared, slices.Concat(vendor, numbered)...)},
		{From: "device/vendor_impl.c", To: name + "_impl.c", Once: true},
		{From: "device/vendor_hooks.h", To: "conformance/" + name + "_hooks.h", Once: true},
	}
}

var (
	// interfaces are the interfaces of every backend for C, C++ and Go.
	interfaces = []string{
		"device_answer.h", "dlpackgen_backend.h", "dlpackgen_backend.hpp", "doc.go", "off.go",
	}
	common = []string{
		"device_error.h", "device_library.h", "device_allocation.h", "device_result.h", "device_side.h",
		"device_start.h", "device_stream.h", "device_tensor.h", "device_texts.h", "device_warnings.h",
	}
	conformance = []string{"conformance_check.h", "conformance_copy.h", "conformance_order.h"}
	// numbered are the parts for backends whose streams have numbers in addition to handles.
	numbered = []string{"numbers_read.h", "numbers_rules.h.tmpl"}
	streams  = []string{
		"streams_context.h", "streams_copy.h", "streams_load.h", "streams_memory.h", "streams_order.h",
		"streams_pointer.h", "streams_release.h", "streams_rules.h.tmpl",
	}
	usm       = []string{"usm_copy.h", "usm_pointer.h", "usm_stream.h", "usm_table.h"}
	levelZero = []string{
		"levelzero_copy.h", "levelzero_load.h", "levelzero_memory.h", "levelzero_order.h",
		"levelzero_pointer.h", "levelzero_types.h",
	}
	sycl   = []string{"sycl_copy.hpp", "sycl_devices.hpp", "sycl_memory.hpp", "sycl_order.hpp"}
	vendor = []string{
		"vendor_copy.h", "vendor_load.h", "vendor_memory.h", "vendor_rules.h.tmpl", "vendor_stream.h",
	}
)
