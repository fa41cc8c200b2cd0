
/* Streams: their numbers, and whose they are. Part of the back end's file. */
#ifndef DLPACKGEN_USM_STREAM_H_
#define DLPACKGEN_USM_STREAM_H_

#include "usm_pointer.h"

/* No object begins below: a smaller number is one that other back ends know. */
enum { USM_LOWEST_HANDLE = 4096 };

/* Checks a handle that is not NULL, of a device that there is. */
static int usm_check_handle(const char *what, const dlpackgen_device_stream *stream, dlpackgen_device_error *error);

static int usm_check_device(const char *what, DLDevice device, dlpackgen_device_error *error) {
	if ((int)device.device_type == BACKEND_device) return usm_check_id(what, device.device_id, error);
	return device_fail(error, DLPACKGEN_DEVICE_BAD_TYPE, "%s: device type %d; the streams of %s are those of type %d",
	                   what, (int)device.device_type, BACKEND_TITLE, BACKEND_device);
}

static int usm_check_stream(const char *what, const dlpackgen_device_stream *stream, dlpackgen_device_error *error) {
	if (!stream) return device_fail(error, DLPACKGEN_DEVICE_BAD_ARGUMENT, "%s: NULL in the place of a stream", what);
	const int code = usm_check_device(what, stream->device, error);
	if (code || stream->unordered || !stream->handle) return code;
	if ((uintptr_t)stream->handle < USM_LOWEST_HANDLE)
		return device_fail(error, DLPACKGEN_DEVICE_BAD_STREAM, "%s: the stream %p is no object in memory", what,
		                   stream->handle);
	return usm_check_handle(what, stream, error);
}

/* As usm_check_stream, for what needs a stream to work on. */
static int usm_check_ordered(const char *what, const dlpackgen_device_stream *stream, dlpackgen_device_error *error) {
	const int code = usm_check_stream(what, stream, error);
	if (code || !stream->unordered) return code;
	return device_fail(error, DLPACKGEN_DEVICE_BAD_STREAM, "%s: a stream is needed, and -1 stands for none", what);
}

static void usm_fill_stream(dlpackgen_device_stream *stream, void *handle, DLDevice device, int unordered) {
	memset(stream, 0, sizeof *stream);
	stream->handle = handle;
	stream->device = device;
	stream->unordered = unordered;
}

static int usm_stream_from_dlpack(DLDevice device, const int64_t *number, dlpackgen_device_stream *stream,
                                  dlpackgen_device_error *error) {
	int code = usm_ready(error);
	if (!code) code = usm_check_device("stream_from_dlpack", device, error);
	if (code) return code;
	if (!stream)
		return device_fail(error, DLPACKGEN_DEVICE_BAD_ARGUMENT, "stream_from_dlpack: NULL in the place of the stream");
	if (number && *number != -1 && (*number < USM_LOWEST_HANDLE || (uint64_t)*number > UINTPTR_MAX))
		return device_fail(error, DLPACKGEN_DEVICE_BAD_STREAM,
		                   "stream_from_dlpack: the number %lld stands for no stream of %s; %s", (long long)*number,
		                   BACKEND_TITLE, "a stream is None, -1, or a handle");
	const int handle = number && *number != -1;
	usm_fill_stream(stream, handle ? (void *)(uintptr_t)*number : NULL, device, number && *number == -1);
	return DLPACKGEN_DEVICE_OK;
}

static int usm_current_stream(const dlpackgen_device_source *source, DLDevice device, dlpackgen_device_stream *stream,
                              dlpackgen_device_error *error) {
	int code = usm_ready(error);
	if (!code) code = usm_check_device("current_stream", device, error);
	if (code) return code;
	if (!stream)
		return device_fail(error, DLPACKGEN_DEVICE_BAD_ARGUMENT, "current_stream: NULL in the place of the stream");
	void *handle = NULL;
	if (source && source->current) {
		const int failed = source->current(source->state, device, &handle);
		if (failed)
			return device_fail(error, DLPACKGEN_DEVICE_BAD_STREAM,
			                   "current_stream: the program's callback gave the error %d", failed);
	} else if (source && source->handles && (size_t)device.device_id < source->count) {
		handle = source->handles[device.device_id];
	}
	usm_fill_stream(stream, handle, device, 0);
	return DLPACKGEN_DEVICE_OK;
}

#endif /* DLPACKGEN_USM_STREAM_H_ */
