package backend

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// requirement is what the sources of a runtime use by name.
type requirement struct {
	handles, constants, functions []string
	lookups                       int
	optional                      bool // sections that hold none of those may be left out, and versions
}

// get gives the section of that name, and reports one that is missing.
func (r requirement) get(m *yaml.Map, key string) *yaml.Node {
	if r.optional {
		return m.Get(key)
	}
	return m.Need(key)
}

var requirements = map[string]requirement{
	"streams": {
		handles: strings.Fields("context stream event pool access device address"),
		constants: strings.Fields(`attribute_context attribute_memory_type attribute_is_managed attribute_ordinal
			attribute_range_start attribute_range_size attribute_mapped memory_host memory_device memory_array
			device_managed_memory device_memory_pools host_portable managed_global stream_non_blocking event_no_timing
			capture_none capture_active capture_relaxed location_device access_read_write`),
		functions: strings.Fields(`driver_version init error_name error_text device_count device_attribute primary_retain
			primary_state context_current context_push context_pop context_device context_finish pointer_attributes
			memory_alloc memory_free pool_alloc pool_free pool_default pool_access peer_access managed_alloc host_alloc
			host_free copy copy_peer stream_create stream_destroy stream_finish stream_wait stream_capture stream_capture_id capture_mode
			stream_context event_create event_record event_destroy`),
		lookups: 2,
	},
	Vendor: {optional: true},
}

// missing gives the names that no row has.
func missing[T any](names []string, rows []T, nameOf func(T) string) []string {
	there := map[string]bool{}
	for _, row := range rows {
		there[nameOf(row)] = true
	}
	var out []string
	for _, name := range names {
		if !there[name] {
			out = append(out, name)
		}
	}
	return out
}

// again gives what an earlier row has too.
func again[T any](rows []T, of func(T) string) []string {
	there := map[string]bool{}
	var out []string
	for _, row := range rows {
		if there[of(row)] {
			out = append(out, of(row))
		}
		there[of(row)] = true
	}
	return out
}
