/* The device and the stream of a call. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_STREAM_H_
#define DLPACKGEN_PYTHON_STREAM_H_

#include "backend.h"

/* Returns the function that reports the current stream of an argument's library, which also
 * identifies arguments of the same library; NULL if there is none. */
static const void* dlpackgen_library_of(const struct dlpackgen_argument* a) {
  return a->private_.streams ? (const void*)a->private_.streams : (const void*)a->private_.api;
}

/* Records the stream and the argument that determined it. */
static int dlpackgen_settle_stream(struct dlpackgen_call* call, int i, DLDevice device) {
  call->private_.device = device;
  call->private_.decides = i;
  return call->private_.has_stream = 1;
}

/* Raises the error of a backend about the argument stream. */
DLPACKGEN_SLOW static int dlpackgen_bad_stream(const struct dlpackgen_call* call,
                                               const dlpackgen_backend_error* error) {
  const int is_number =
      error->code == DLPACKGEN_BACKEND_INVALID_STREAM || error->code == DLPACKGEN_BACKEND_STREAM_DEVICE_MISMATCH;
  PyErr_Format(is_number ? PyExc_ValueError : dlpackgen_backend_kind(error->code), "%s(): argument 'stream': %s",
               call->function->name, error->text);
  return -1;
}

/* Converts a stream number with the backend of the device. To check the stream's device, the
 * backend orders the stream after itself. */
DLPACKGEN_SLOW static int dlpackgen_use_number_by(struct dlpackgen_call* call, int i, DLDevice device,
                                                  const dlpackgen_backend* table) {
  const int64_t number = call->private_.number;
  dlpackgen_stream stream, standard;
  dlpackgen_backend_error error;
  int failed = table->stream_from_dlpack(device, &number, &stream, &error);
  if (!failed) failed = table->stream_from_dlpack(device, NULL, &standard, &error);
  if (!failed) failed = table->stream_wait(&stream, &stream, &error);
  if (failed) return dlpackgen_bad_stream(call, &error);
  call->stream = stream.handle == standard.handle ? NULL : stream.handle;
  dlpackgen_settle_stream(call, i, device);
  return 0;
}

/* Converts the number of a stream to a handle. */
static int dlpackgen_use_number(struct dlpackgen_call* call, int i, DLDevice device) {
  const enum dlpackgen_streams streams = dlpackgen_streams_of((int32_t)device.device_type);
  const struct dlpackgen_backend_entry* found = dlpackgen_streams_at(call->private_.state, device);
  char where[32];
  if (streams != DLPACKGEN_STREAMS_NONE && dlpackgen_stream_is_rejected(streams, call->private_.number)) {
    PyErr_Format(PyExc_ValueError, "%s(): argument 'stream': %lld is invalid on %s, where %lld is the default stream",
                 call->function->name, call->private_.number, dlpackgen_device_text(device, where),
                 dlpackgen_default_stream(streams));
    return -1;
  }
  if (found) return dlpackgen_use_number_by(call, i, device, found->table);
  const int standard = streams != DLPACKGEN_STREAMS_NONE && call->private_.number == dlpackgen_default_stream(streams);
  call->stream = standard ? NULL : (void*)(uintptr_t)call->private_.number;
  dlpackgen_settle_stream(call, i, device);
  return 0;
}

/* Queries the current stream of an argument's library. Returns 1, 0 if the library cannot report
 * it, or -1 with an exception. */
static int dlpackgen_set_stream(const struct dlpackgen_call* call, int i, DLDevice device, void** stream) {
  const struct dlpackgen_argument* a = &call->arguments[i];
  int failed;
  if (a->private_.streams) failed = a->private_.streams->stream(device, stream);
  else if (a->private_.api) failed = a->private_.api->current_work_stream(device.device_type, device.device_id, stream);
  else return 0;
  if (!failed && !PyErr_Occurred()) return 1; /* a table may succeed and leave an exception */
  dlpackgen_failed(PyExc_RuntimeError, DLPACKGEN_TEXT_NO_STREAM);
  return dlpackgen_about(call->function, i);
}

/* Queries the stream of the call; as above. */
static int dlpackgen_query_stream(struct dlpackgen_call* call, int i, DLDevice device) {
  void* stream = NULL;
  const int reported = dlpackgen_set_stream(call, i, device, &stream);
  if (reported <= 0) return reported;
  call->stream = stream;
  return dlpackgen_settle_stream(call, i, device);
}

static int dlpackgen_no_stream(const struct dlpackgen_call* call, int i, DLDevice device) {
  char where[32];
  return dlpackgen_argument_error(call, i, PyExc_ValueError, "no current stream is known for %s%s",
                                  dlpackgen_device_text(device, where),
                                  call->function->takes_stream ? ": pass stream=" : "");
}

/* Normalizes handles, so that each stream has one: on CUDA, 1 and NULL are the default stream. */
static void* dlpackgen_plain_stream(DLDevice device, void* stream) {
  const enum dlpackgen_streams streams = dlpackgen_streams_of((int32_t)device.device_type);
  const int known = streams != DLPACKGEN_STREAMS_NONE;
  return known && (uintptr_t)stream == (uintptr_t)dlpackgen_default_stream(streams) ? NULL : stream;
}

/* Uses the program's stream for a device, as the last resort. Returns 0, or -1 with an
 * exception. */
static int dlpackgen_use_program(struct dlpackgen_call* call, int i, DLDevice device) {
  void* stream = NULL;
  const int reported = dlpackgen_query_source(call, i, device, &stream);
  if (reported <= 0) return reported < 0 ? -1 : dlpackgen_no_stream(call, i, device);
  call->stream = dlpackgen_plain_stream(device, stream);
  dlpackgen_settle_stream(call, i, device);
  return 0;
}

/* Returns whether the table of an argument that was not read yet may borrow it: 1, 0, or -1 with an
 * exception. */
static int dlpackgen_may_query_table(const struct dlpackgen_call* call, const struct dlpackgen_argument* a) {
  if (!(a->private_.queries & dlpackgen_query_dense)) return 1;
  const int dense = dlpackgen_is_contiguous_anyhow(call->private_.state, a->object);
  if (dense < 0) return dlpackgen_pass_over();
  return dense && Py_TYPE(a->object) == a->private_.type;
}

/* Borrows a tensor only to determine its device. Returns 1, 0 if it cannot be borrowed, or -1 with
 * an exception. */
static int dlpackgen_peek(const struct dlpackgen_call* call, int i, DLDevice* device) {
  struct dlpackgen_argument *a = &call->arguments[i], seen = *a;
  int64_t* const scratch = call->private_.scratch + (size_t)i * DLPACKGEN_SCRATCH;
  int found = 0;
  seen.flags = 0;
  if (a->private_.done || !a->object || !(a->private_.reader || a->private_.api) ||
      Py_TYPE(a->object) != a->private_.type)
    return 0;
  if (!a->private_.reader) {
    const int requested = dlpackgen_may_query_table(call, a);
    if (requested <= 0) return requested < 0 ? dlpackgen_about(call->function, i) : 0;
  }
  if (a->private_.reader) found = a->private_.reader->borrow(a->object, 0, &seen.tensor, scratch, &seen.flags);
  else found = dlpackgen_read_table(&seen, a->private_.api, a->private_.trusted, a->object, 0);
  if (!a->private_.reader && found == 1) dlpackgen_delete_quietly(seen.private_.versioned, NULL);
  *device = seen.tensor.device;
  if (found < 0) return dlpackgen_about(call->function, i);
  return !a->private_.reader || found == 0;
}

/* Rejects an argument on a device other than that of the call's stream. */
DLPACKGEN_SLOW static int dlpackgen_reject_device(const struct dlpackgen_call* call, int i, DLDevice device) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  const struct dlpackgen_site at = dlpackgen_site_of(call->function, i);
  const struct dlpackgen_site like = dlpackgen_site_of(call->function, call->private_.decides);
  return dlpackgen_raise(dlpackgen_other_device(&at, device, &like, call->private_.device, &text), &text);
}

/* Determines the stream before a producer without a table exports a tensor on that device. The
 * first other tensor outside host memory determines it. */
static int dlpackgen_find_stream(struct dlpackgen_call* call, int wanting, DLDevice device) {
  if (call->private_.has_number && !call->private_.has_stream) return dlpackgen_use_number(call, wanting, device);
  for (int i = 0; i < call->function->nparameters && !call->private_.has_stream; i++) {
    const struct dlpackgen_argument* a = &call->arguments[i];
    const int is_tensor = call->function->parameters[i].kind == DLPACKGEN_KIND_TENSOR && a->object;
    const int known = is_tensor && a->private_.done && dlpackgen_library_of(a);
    DLDevice there = i == wanting ? device : a->tensor.device;
    const int seen = known ? 1 : dlpackgen_peek(call, i, &there);
    if (seen < 0) return -1;
    if (seen && !dlpackgen_is_on_host(there) && dlpackgen_query_stream(call, i, there) < 0) return -1;
  }
  if (!call->private_.has_stream && dlpackgen_use_program(call, wanting, device)) return -1;
  if (dlpackgen_same_device(device, call->private_.device)) return 0;
  return dlpackgen_reject_device(call, wanting, device);
}

/* Reads a member of the pair from __dlpack_device__: an int, an object with __index__, or a member
 * of an Enum without it, whose value is used (array API, `__dlpack_device__`). None is the only
 * device of the CPU, as in Paddle. */
static int dlpackgen_device_part(PyObject* part, int is_id_of_cpu, long long* number) {
  PyObject* value = NULL;
  *number = 0;
  if (part == Py_None && is_id_of_cpu) return 0;
  if (!PyIndex_Check(part) && dlpackgen_find(part, "value", &value) < 0) return -1;
  const int failed = dlpackgen_number(value ? value : part, number);
  Py_XDECREF(value);
  return failed;
}

/* Reads a tuple or list of two such members. Returns 0, or -1 with an exception. */
static int dlpackgen_read_device(PyObject* answer, DLDevice* device) {
  const int is_pair = PyTuple_Check(answer) || PyList_Check(answer);
  PyObject* pair = is_pair ? PySequence_Tuple(answer) : PyTuple_New(0); /* because a list may change meanwhile */
  long long type = 0, id = 0;
  int failed = !pair;
  if (pair && PyTuple_Size(pair) != 2) failed = dlpackgen_reject(DLPACKGEN_TEXT_NO_DEVICE);
  if (!failed) failed = dlpackgen_device_part(PyTuple_GetItem(pair, 0), 0, &type);
  if (!failed) failed = dlpackgen_device_part(PyTuple_GetItem(pair, 1), type == kDLCPU, &id);
  Py_XDECREF(pair);
  if (!failed && (type != (int32_t)type || id != (int32_t)id))
    failed = dlpackgen_reject("its __dlpack_device__() returned (%lld, %lld), which is not a device", type, id);
  device->device_type = (DLDeviceType)type;
  device->device_id = (int32_t)id;
  return failed ? -1 : 0;
}

/* Reads the device that __dlpack_device__ declares. Returns 1, 0 without such a method, as for old
 * producers, or -1 with an exception. */
static int dlpackgen_device_of(struct dlpackgen_state* state, PyObject* object, DLDevice* device) {
  PyObject* answer = PyObject_CallMethodObjArgs(object, state->dlpack_device, NULL);
  if (!answer && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    return 0;
  }
  const int failed = !answer || dlpackgen_read_device(answer, device);
  Py_XDECREF(answer);
  return failed ? dlpackgen_not_exported(object) : 1;
}

/* Creates the stream argument for a producer without a table. Returns 0 with a new reference, or
 * with NULL if no stream must be passed, or -1 with an exception. */
static int dlpackgen_stream_for(struct dlpackgen_call* call, int i, PyObject** stream) {
  struct dlpackgen_argument* a = &call->arguments[i];
  a->private_.declares = 0;
  *stream = NULL;
  if (dlpackgen_is_cpu_only(&call->function->parameters[i])) return 0;
  const int known = dlpackgen_device_of(call->private_.state, a->object, &a->private_.declared);
  if (known < 0) return dlpackgen_about(call->function, i);
  if (known == 0) return 0;
  a->private_.declares = 1;
  if (dlpackgen_is_on_host(a->private_.declared)) return 0;
  if (dlpackgen_find_stream(call, i, a->private_.declared)) return -1;
  const enum dlpackgen_streams streams = dlpackgen_streams_of((int32_t)a->private_.declared.device_type);
  if (streams == DLPACKGEN_STREAMS_NONE &&
      (!call->stream || !dlpackgen_streams_at(call->private_.state, a->private_.declared)))
    return 0;
  *stream = call->stream ? PyLong_FromVoidPtr(call->stream) : PyLong_FromLongLong(dlpackgen_default_stream(streams));
  return *stream ? 0 : -1;
}

/* Rejects a tensor on a device other than its __dlpack_device__ declared, because no stream of its
 * real device was synchronized. */
static int dlpackgen_check_word(const struct dlpackgen_call* call, int i) {
  const struct dlpackgen_argument* a = &call->arguments[i];
  const DLDevice came = a->tensor.device;
  char declared[32], got[32];
  if (dlpackgen_is_on_host(came) || dlpackgen_is_cpu_only(&call->function->parameters[i])) return 0;
  if (a->private_.declares && dlpackgen_same_device(a->private_.declared, came)) return 0;
  dlpackgen_device_text(came, got);
  if (!a->private_.declares)
    return dlpackgen_argument_error(
        call, i, PyExc_BufferError,
        "it has no __dlpack_device__(), but its __dlpack__() returned a tensor on %s without a stream", got);
  return dlpackgen_argument_error(call, i, PyExc_BufferError,
                                  "its __dlpack_device__() declared %s, but its __dlpack__() returned a tensor on %s",
                                  dlpackgen_device_text(a->private_.declared, declared), got);
}

/* Returns whether an argument is a tensor outside host memory. */
DLPACKGEN_FAST int dlpackgen_is_elsewhere(const struct dlpackgen_call* call, int i) {
  return call->function->parameters[i].kind == DLPACKGEN_KIND_TENSOR && call->arguments[i].object &&
         !dlpackgen_is_on_host(call->arguments[i].tensor.device);
}

/* Collects the tensors of the given number of arguments for the checker; NULL for arguments that
 * are not tensors. */
static void dlpackgen_tensors_of(const struct dlpackgen_call* call, int count, const DLTensor** tensors) {
  for (int i = 0; i < count; i++) {
    const int is_tensor = call->function->parameters[i].kind == DLPACKGEN_KIND_TENSOR && call->arguments[i].object;
    tensors[i] = is_tensor ? &call->arguments[i].tensor : NULL;
  }
}

/* Compares the devices of the given number of arguments. Returns the index of the first one outside
 * host memory, -1 if there is none, or -2 with an exception. */
static int dlpackgen_compare_devices(const struct dlpackgen_call* call, int count) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  const DLTensor* tensors[DLPACKGEN_MAX_PARAMETERS];
  int first;
  dlpackgen_tensors_of(call, count, tensors);
  const int status = dlpackgen_check_devices(call->function, tensors, count, &first, &text);
  return status ? dlpackgen_raise(status, &text) - 1 : first;
}

/* Determines the stream of the call on the device of its first tensor outside host memory: from a
 * number, or from the first table there. Returns 0, also without a stream, or -1 with an
 * exception. */
static int dlpackgen_choose_stream(struct dlpackgen_call* call, int first) {
  const DLDevice device = call->arguments[first].tensor.device;
  if (call->private_.has_number && !call->private_.has_stream) return dlpackgen_use_number(call, first, device);
  for (int i = first; i < call->function->nparameters && !call->private_.has_stream; i++)
    if (dlpackgen_is_elsewhere(call, i) && dlpackgen_query_stream(call, i, device) < 0) return -1;
  return 0;
}

/* Returns the index of the first argument whose library uses a stream other than the call's, -1 if
 * there is none, or -2 with an exception. settled: libraries that were queried before are not
 * queried again, because that may run code. */
static int dlpackgen_find_other_stream(struct dlpackgen_call* call, int settled) {
  const void* agrees =
      call->private_.has_number ? NULL : dlpackgen_library_of(&call->arguments[call->private_.decides]);
  for (int i = 0; i < call->function->nparameters; i++) {
    const struct dlpackgen_argument* a = &call->arguments[i];
    void* stream = NULL;
    if (!dlpackgen_is_elsewhere(call, i) || dlpackgen_is_cpu_only(&call->function->parameters[i])) continue;
    const void* const library = dlpackgen_library_of(a);
    if (!library || library == agrees || a->private_.waits || (settled && a->private_.done)) continue;
    const int reported = dlpackgen_set_stream(call, i, call->private_.device, &stream);
    if (reported < 0) return -2;
    if (reported && dlpackgen_plain_stream(call->private_.device, stream) !=
                        dlpackgen_plain_stream(call->private_.device, call->stream)) {
      call->private_.other = stream;
      return i;
    }
    agrees = library;
  }
  return -1;
}

static const char* dlpackgen_stream_text(const void* stream, char text[32]) {
  snprintf(text, 32, "0x%llx", (unsigned long long)(uintptr_t)stream);
  return text;
}

/* Checks whether a tensor of another stream can be exported for the call's stream. Returns 0, or -1
 * with an exception. */
static int dlpackgen_may_export_again(struct dlpackgen_call* call, int i) {
  char where[32], other[32], stream[32];
  dlpackgen_device_text(call->private_.device, where);
  dlpackgen_stream_text(call->private_.other, other);
  dlpackgen_stream_text(call->stream, stream);
  if (call->private_.has_number)
    return dlpackgen_argument_error(call, i, PyExc_ValueError,
                                    "its stream %s on %s differs from stream=%lld: pass its stream, or omit stream=",
                                    other, where, call->private_.number);
  const int queries = dlpackgen_has(call->arguments[i].object, "__dlpack__");
  if (queries < 0) return dlpackgen_about(call->function, i);
  if (queries && dlpackgen_streams_of((int32_t)call->private_.device.device_type) != DLPACKGEN_STREAMS_NONE) return 0;
  return dlpackgen_argument_error(
      call, i, PyExc_BufferError,
      "its stream %s on %s differs from the call's stream %s, and without __dlpack__ it cannot synchronize", other,
      where, stream);
}

DLPACKGEN_SLOW static int dlpackgen_moved(const struct dlpackgen_call* call, int i) {
  return dlpackgen_argument_error(call, i, PyExc_BufferError,
                                  "its device or current stream changed while the arguments were read");
}

/* Determines the device and the stream of the call after all tensors were read. Returns 0, -1 with
 * an exception, or 1 if streams must be synchronized and were not yet. In this case, all tensors
 * were read through tables that run no foreign code, so no other source reports their streams. */
static int dlpackgen_settle(struct dlpackgen_call* call, int agreed) {
  for (int i = 0; !agreed && i < call->function->nparameters; i++) {
    call->arguments[i].private_.streams = NULL;
    call->arguments[i].private_.waits = 0;
  }
  const int first = dlpackgen_compare_devices(call, call->function->nparameters);
  if (first < -1) return -1;
  if (first < 0) {
    call->stream = NULL; /* its producer was given a stream but returned a CPU tensor */
    if (!call->private_.has_number) return 0;
    PyErr_Format(PyExc_ValueError, "%s(): argument 'stream': all tensors are on the CPU, which has no streams",
                 call->function->name);
    return -1;
  }
  call->device = call->arguments[first].tensor.device;
  if (!call->private_.has_stream && dlpackgen_choose_stream(call, first)) return -1;
  if (!call->private_.has_stream && dlpackgen_use_program(call, first, call->device)) return -1;
  if (!dlpackgen_same_device(call->private_.device, call->device)) return dlpackgen_moved(call, first);
  const int other = dlpackgen_find_other_stream(call, agreed);
  if (other < 0) return other < -1 ? -1 : 0;
  return agreed ? dlpackgen_moved(call, other) : 1;
}

/* As above. Then the drivers are queried for the owners of the memory. */
DLPACKGEN_SLOW static int dlpackgen_settle_device(struct dlpackgen_call* call, int agreed) {
  const int settled = dlpackgen_settle(call, agreed);
  return settled ? settled : dlpackgen_check_owners(call);
}

#endif
