
/* Working in the primary context of a device, which every library in the process
 * shares, and leaving the thread as it was. Part of the back end's C file. */
#ifndef DLPACKGEN_STREAMS_CONTEXT_H_
#define DLPACKGEN_STREAMS_CONTEXT_H_

#include "streams_load.h"

static int streams_check_id(const char *what, int32_t id, dlpackgen_device_error *error) {
	if (id >= 0 && id < streams.count) return DLPACKGEN_DEVICE_OK;
	return device_fail(error, DLPACKGEN_DEVICE_BAD_DEVICE,
	                   "%s: there is no device %d; this process sees %d, numbered from 0", what, (int)id,
	                   streams.count);
}

/* Checks a device that has streams of its own. */
static int streams_check_device(const char *what, DLDevice device, dlpackgen_device_error *error) {
	if ((int)device.device_type != BACKEND_device)
		return device_fail(error, DLPACKGEN_DEVICE_BAD_TYPE,
		                   "%s: device type %d; the streams of %s are those of type %d", what, (int)device.device_type,
		                   BACKEND_TITLE, BACKEND_device);
	return streams_check_id(what, device.device_id, error);
}

/* Gives the primary context of a device. It is retained for ever: to release it
 * would take it from the other libraries. Two threads that come first retain it
 * twice, and get the same. */
static int streams_primary(int32_t ordinal, driver_context *context, dlpackgen_device_error *error) {
	struct streams_device *device = &streams.devices[ordinal];
	*context = atomic_load_explicit(&device->primary, memory_order_acquire);
	if (*context) return DLPACKGEN_DEVICE_OK;
	const driver_result result = streams.driver.primary_retain(context, ordinal);
	if (result) return streams_fail(error, result, "the primary context of device %d", (int)ordinal);
	atomic_store_explicit(&device->primary, *context, memory_order_release);
	return DLPACKGEN_DEVICE_OK;
}

/* Gives the primary context of a device if somebody uses it already, else NULL: to
 * start one takes hundreds of megabytes of the device. */
static driver_context streams_active(int32_t ordinal) {
	driver_context context = atomic_load_explicit(&streams.devices[ordinal].primary, memory_order_acquire);
	unsigned int flags = 0;
	int active = 0;
	if (!context && !streams.driver.primary_state(ordinal, &flags, &active) && active)
		if (streams_primary(ordinal, &context, NULL)) context = NULL;
	return context;
}

/* Makes the primary context of a device current, unless it is; `pushed` says what
 * streams_leave has to undo. */
static int streams_enter(int32_t ordinal, int *pushed, dlpackgen_device_error *error) {
	driver_context wanted = NULL, current = NULL;
	*pushed = 0;
	const int code = streams_primary(ordinal, &wanted, error);
	if (code) return code;
	if (!streams.driver.context_current(&current) && current == wanted) return DLPACKGEN_DEVICE_OK;
	const driver_result result = streams.driver.context_push(wanted);
	if (result) return streams_fail(error, result, "the context of device %d", (int)ordinal);
	*pushed = 1;
	return DLPACKGEN_DEVICE_OK;
}

static void streams_leave(int pushed) {
	driver_context popped;
	if (pushed) (void)streams.driver.context_pop(&popped);
}

#endif /* DLPACKGEN_STREAMS_CONTEXT_H_ */
