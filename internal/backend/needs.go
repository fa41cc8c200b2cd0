package backend

import (
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/yaml"
)

// requirement lists the names that the sources of an implementation use.
type requirement struct {
	handles, constants, functions []string
	lookups                       int
	renumbered                    []string // constants that were another number
	unnumbered                    bool     // streams have no numbers but their handles
	optional                      bool     // sections that hold none of those may be left out, and versions
}

// get returns the section of that name, and reports a missing one.
func (r requirement) get(m *yaml.Map, key string) *yaml.Node {
	if r.optional {
		return m.Get(key)
	}
	return m.Require(key)
}

// streams is get for the section of streams.
func (r requirement) streams(m *yaml.Map) *yaml.Node {
	if r.unnumbered {
		return m.Get("streams")
	}
	return r.get(m, "streams")
}

var requirements = map[string]requirement{
	"cuda": {
		handles: strings.Fields("context stream event pool access device address capture_id"),
		constants: strings.Fields(`attribute_context attribute_memory_type attribute_is_managed
			attribute_ordinal attribute_range_start attribute_range_size attribute_mapped memory_host
			memory_device memory_array device_managed_memory device_memory_pools host_portable managed_global
			stream_non_blocking event_no_timing capture_none capture_active capture_relaxed location_device
			access_read_write`),
		functions: strings.Fields(`driver_version init error_name error_text device_count device_attribute
			primary_retain primary_state context_current context_push context_pop context_device context_id
			pointer_attributes memory_alloc memory_free pool_alloc pool_free pool_default pool_access
			peer_access managed_alloc host_alloc host_free copy copy_peer stream_create stream_destroy
			stream_synchronize stream_wait stream_capture stream_capture_id capture_mode stream_context event_create
			event_record event_destroy`),
		lookups: 2,
	},
	"hip": {
		handles: strings.Fields("stream event pool access device address capture_id"),
		constants: strings.Fields(`attribute_memory_type attribute_is_managed attribute_ordinal attribute_mapped
			memory_host memory_device memory_array device_managed_memory device_memory_pools host_portable
			managed_global stream_non_blocking stream_unknown event_no_timing capture_none capture_active
			capture_relaxed copy_default location_device access_read_write`),
		functions: strings.Fields(`driver_version error_name error_text device_count device_attribute
			device_current device_use primary_state pointer_attributes address_range memory_alloc memory_free
			pool_alloc pool_free pool_default pool_access peer_access managed_alloc host_alloc host_free copy
			copy_peer stream_create stream_destroy stream_synchronize stream_wait stream_capture stream_capture_id
			capture_mode stream_device event_create event_record event_destroy`),
		renumbered: strings.Fields("memory_host memory_device memory_array"),
	},
	Custom: {optional: true},
	"level_zero": {
		unnumbered: true,
		handles: strings.Fields(`driver device context list pool event properties list_desc pool_desc event_desc
			memory_desc allocation free_desc`),
		constants: strings.Fields(`type_gpu memory_unknown memory_host memory_device memory_shared
			queue_in_order mode_asynchronous scope_device scope_host pool_host_visible free_blocking
			struct_device struct_queue struct_pool struct_event struct_memory struct_allocation struct_free`),
		functions: strings.Fields(`init driver_get driver_version default_context device_get device_children
			device_properties device_peer memory_alloc memory_free memory_properties memory_range list_create
			list_destroy list_synchronize list_device list_context list_immediate list_flags copy barrier pool_create
			pool_destroy event_create event_destroy event_status event_synchronize event_reset`),
	},
}

// missing returns the names without a row.
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

// again returns the names that an earlier row also has.
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
