
/* Whose memory an address is in. Part of the back end's C file. */
#ifndef DLPACKGEN_STREAMS_POINTER_H_
#define DLPACKGEN_STREAMS_POINTER_H_

#include "streams_context.h"

/* What the driver tells of an address; all zero for what it does not know. */
struct streams_attributes {
	unsigned int type, managed, mapped;
	int ordinal;
	driver_context context;
	driver_address start;
	size_t size;
};

/* Asks for everything at once: asked so, the driver does not take an address that
 * it does not know for an error. */
static driver_result streams_query(const void *pointer, struct streams_attributes *a) {
	static const unsigned int all[] = {
	    DRIVER_attribute_memory_type, DRIVER_attribute_is_managed, DRIVER_attribute_mapped,
	    DRIVER_attribute_ordinal,     DRIVER_attribute_context,    DRIVER_attribute_range_start,
	    DRIVER_attribute_range_size,
	};
	void *values[] = {&a->type, &a->managed, &a->mapped, &a->ordinal, &a->context, &a->start, &a->size};
	unsigned int wanted[sizeof all / sizeof *all];
	memcpy(wanted, all, sizeof all);
	memset(a, 0, sizeof *a);
	return streams.driver.pointer_attributes(sizeof all / sizeof *all, wanted, values,
	                                         (driver_address)(uintptr_t)pointer);
}

/* Asks once more in each context that is in use: some drivers answer only where
 * the memory's own device is current (cupy#3991). Where no context is in use,
 * nothing can be the driver's memory. */
static int streams_query_again(const void *pointer, struct streams_attributes *a, driver_result result,
                               dlpackgen_device_error *error) {
	int asked = 0;
	for (int32_t ordinal = 0; ordinal < streams.count; ordinal++) {
		int pushed = 0;
		if (!streams_active(ordinal) || streams_enter(ordinal, &pushed, NULL)) continue;
		asked = 1;
		result = streams_query(pointer, a);
		streams_leave(pushed);
		if (!result) return DLPACKGEN_DEVICE_OK;
	}
	if (asked) return streams_fail(error, result, "pointer_info of %p", pointer);
	memset(a, 0, sizeof *a);
	return DLPACKGEN_DEVICE_OK;
}

/* Memory of pools has no context of its own. */
static int streams_check_context(const void *pointer, const struct streams_attributes *a,
                                 dlpackgen_device_error *error) {
	if (!a->context || a->context == streams_active(a->ordinal)) return DLPACKGEN_DEVICE_OK;
	return device_fail(
	    error, DLPACKGEN_DEVICE_OTHER_CONTEXT,
	    "pointer_info of %p: the memory belongs to a context that somebody created on device %d, and not to the %s",
	    pointer, a->ordinal, "primary one, which libraries share; allocate it there");
}

/* Checks memory of a device, as opposed to that of the host. Plain memory, which has
 * a context, is always there; a graph's and a reserved range have none. */
static int streams_check_memory(const void *pointer, const struct streams_attributes *a,
                                dlpackgen_device_error *error) {
	if (a->ordinal < 0 || a->ordinal >= streams.count)
		return device_fail(error, DLPACKGEN_DEVICE_DRIVER, "pointer_info of %p: the driver names device %d of %d",
		                   pointer, a->ordinal, streams.count);
	if (!a->mapped && !a->context)
		return device_fail(
		    error, DLPACKGEN_DEVICE_NOT_MAPPED,
		    "pointer_info of %p: there is no memory at the address: it is reserved only, or a graph's %s", pointer,
		    "own, which has memory while the graph runs; hand out memory that was allocated outside of captures");
	return streams_check_context(pointer, a, error);
}

/* Reads the attributes in the order that tells the kinds apart: managed memory
 * says that it is the device's or the host's as well. */
static int streams_classify(const void *pointer, const struct streams_attributes *a, dlpackgen_device_pointer *info,
                            dlpackgen_device_error *error) {
	*info = (dlpackgen_device_pointer){{kDLCPU, 0}, -1, 0, NULL, 0};
	if (!a->type && !a->managed) return DLPACKGEN_DEVICE_OK;
	info->ordinal = a->ordinal;
	info->base = (const void *)(uintptr_t)a->start;
	info->size = a->size;
	int code = DLPACKGEN_DEVICE_OK;
	if (a->managed) {
		info->device.device_type = (DLDeviceType)BACKEND_managed;
	} else if (a->type == DRIVER_memory_host) {
		info->device.device_type = (DLDeviceType)BACKEND_host;
	} else if (a->type == DRIVER_memory_device) {
		info->device.device_type = (DLDeviceType)BACKEND_device;
		info->device.device_id = a->ordinal;
		code = streams_check_memory(pointer, a, error);
	} else {
		code = device_fail(error, DLPACKGEN_DEVICE_NOT_LINEAR,
		                   "pointer_info of %p: an array of textures or another memory of type %u, not a run of bytes",
		                   pointer, a->type);
	}
	return code;
}

static int streams_pointer_info(const void *pointer, dlpackgen_device_pointer *info, dlpackgen_device_error *error) {
	struct streams_attributes a;
	int code = streams_ready(error);
	if (code) return code;
	if (!pointer || !info)
		return device_fail(error, DLPACKGEN_DEVICE_BAD_ARGUMENT, "pointer_info: NULL in the place of the %s",
		                   pointer ? "answer" : "address; an empty tensor is where its maker says");
	const driver_result result = streams_query(pointer, &a);
	if (result) code = streams_query_again(pointer, &a, result, error);
	return code ? code : streams_classify(pointer, &a, info, error);
}

#endif /* DLPACKGEN_STREAMS_POINTER_H_ */
