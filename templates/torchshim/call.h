/*
 * A call of an operator: reads the arguments from the dispatcher's stack, checks them with
 * kernels.c, calls the C function, and pushes the results onto the stack.
 */
#ifndef DLPACKGEN_TORCHSHIM_CALL_H_
#define DLPACKGEN_TORCHSHIM_CALL_H_

#include <kernels.h>
#include "raise.h"
#include "values.h"

#define DLPACKGEN_SHIM_SENTENCE 4096

/* An operator. Its call is a struct of kernels.h. */
struct dlpackgen_shim_operator {
  const char *space, *name; /* of the operator */
  const char* kernel;       /* in messages */
  const char* schema;       /* to define */
  const char* boxed_name;   /* with the C function */
  const char* boxed_schema; /* if different, else NULL */
  const char* const* keys;  /* the dispatch keys, up to NULL */
  const struct dlpackgen_shim_argument* arguments;
  int narguments, nresults, nreturned;
  const int* returned;    /* the results that callers receive */
  bool is_differentiable; /* Python checks derivatives, and creates autograd's record */
  dlpackgen_shim_boxed boxed;
  int (*fill)(const struct dlpackgen_shim_operator* op, void* call, struct dlpackgen_shim_value* values,
              struct dlpackgen_message* message); /* and check */
  void (*results)(const void* call, const struct dlpackgen_result** all);
  int (*run)(const void* call, DLTensor* borrowed, void* stream, struct dlpackgen_message* message);
};

/* The resources of a call, which it must release. */
struct dlpackgen_shim_frame {
  const struct dlpackgen_shim_operator* op;
  struct dlpackgen_shim_owned* owned;
  void** made;
  void* guard;
};

static void dlpackgen_shim_end(const struct dlpackgen_shim_frame* frame) {
  for (int i = 0; i < frame->op->narguments; i++)
    dlpackgen_shim_release(frame->op->arguments[i].kind, &frame->owned[i]);
  for (int i = 0; i < frame->op->nresults; i++)
    if (frame->made[i]) dlpackgen_shim.call.delete_tensor(frame->made[i]);
  if (frame->guard) dlpackgen_shim.call.delete_guard(frame->guard);
}

static struct dlpackgen_site dlpackgen_shim_site(const struct dlpackgen_shim_operator* op, int i) {
  const struct dlpackgen_site at = {op->kernel, op->arguments[i].name, i};
  return at;
}

/* Checking */

/* Returns the status of an operator's error that concerns no argument. */
DLPACKGEN_SLOW static int dlpackgen_shim_reject(const struct dlpackgen_shim_operator* op, int status, const char* text,
                                                struct dlpackgen_message* message) {
  dlpackgen_put(message, op->space);
  dlpackgen_put(message, "::");
  dlpackgen_put(message, op->name);
  dlpackgen_put(message, text);
  return status;
}

static bool dlpackgen_shim_has_tangent(void** handle) {
  void* const tangent = dlpackgen_shim.cpp.tangent(*handle, 0, handle);
  bool is_defined = false;
  return dlpackgen_shim.call.is_defined(tangent, &is_defined) == 0 && is_defined;
}

/* A derivative that is not computed would be lost. For kernels with a backward, Python checks
 * this. */
static int dlpackgen_shim_reject_derivatives(const struct dlpackgen_shim_frame* frame,
                                             struct dlpackgen_message* message) {
  if (frame->op->is_differentiable) return DLPACKGEN_STATUS_OK;
  const bool grad_mode = dlpackgen_shim.call.grad_mode();
  for (int i = 0; i < frame->op->narguments; i++) {
    void** const handle = frame->owned[i].handle;
    if (frame->op->arguments[i].kind != DLPACKGEN_SHIM_TENSOR || !handle) continue;
    if (grad_mode && dlpackgen_shim.cpp.requires_grad(*handle))
      return dlpackgen_shim_reject(frame->op, DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR, "(): " DLPACKGEN_TEXT_NO_BACKWARD,
                                   message);
    if (dlpackgen_shim_has_tangent(handle))
      return dlpackgen_shim_reject(frame->op, DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR,
                                   "(): " DLPACKGEN_TEXT_NO_FORWARD_MODE, message);
  }
  return DLPACKGEN_STATUS_OK;
}

/* Borrows the tensors of the stack. Written ones come first, because they separate copy-on-write
 * memory. Tensors that only read the same storage must be read afterwards, at its new address. */
static int dlpackgen_shim_read_all(const struct dlpackgen_shim_frame* frame, struct dlpackgen_shim_value* values,
                                   struct dlpackgen_message* message) {
  int status = DLPACKGEN_STATUS_OK;
  for (int writes = 1; writes >= 0; writes--) {
    for (int i = 0; !status && i < frame->op->narguments; i++) {
      const struct dlpackgen_site at = dlpackgen_shim_site(frame->op, i);
      if (frame->op->arguments[i].writes != (writes != 0)) continue;
      status = dlpackgen_shim_read_value(&frame->op->arguments[i], &at, &values[i], &frame->owned[i], message);
    }
  }
  return status;
}

/* Results and devices */

/* The first tensor outside host memory, or any tensor: results are on its device. */
static void* dlpackgen_shim_like(const struct dlpackgen_shim_frame* frame) {
  void* like = NULL;
  for (int i = 0; i < frame->op->narguments; i++) {
    int32_t device = dlpackgen_shim.devices.cpu;
    if (frame->op->arguments[i].kind != DLPACKGEN_SHIM_TENSOR || !frame->owned[i].handle) continue;
    if (!like) like = frame->owned[i].handle;
    dlpackgen_shim.call.get_device_type(frame->owned[i].handle, &device);
    if (device != dlpackgen_shim.devices.cpu) return frame->owned[i].handle;
  }
  return like;
}

/* Returns the native handle of the current stream of the current device. */
static bool dlpackgen_shim_stream(int32_t device, int32_t index, void** stream) {
  const struct dlpackgen_torch_shim_functions* const call = &dlpackgen_shim.call;
  void* current = NULL;
  if (device == dlpackgen_shim.devices.cuda && call->cuda_stream) return call->cuda_stream(index, stream) == 0;
  if (!call->current_stream || !call->native_handle || !call->delete_stream) return false;
  if (call->current_stream(index, &current)) return false;
  const bool found = call->native_handle(current, stream) == 0;
  call->delete_stream(current);
  return found;
}

/* Makes a device current, and returns its stream. */
static int dlpackgen_shim_enter(struct dlpackgen_shim_frame* frame, int32_t device, int32_t index, void** stream,
                                struct dlpackgen_message* message) {
  const struct dlpackgen_torch_shim_functions* const call = &dlpackgen_shim.call;
  if (device == dlpackgen_shim.devices.cpu) return DLPACKGEN_STATUS_OK;
  if (call->device_guard && call->delete_guard && !call->device_guard(index, &frame->guard) &&
      dlpackgen_shim_stream(device, index, stream))
    return DLPACKGEN_STATUS_OK;
  dlpackgen_put(message, frame->op->kernel);
  dlpackgen_put(message, "(): this torch does not report the current stream of the device: use torch 2.13 or newer");
  return DLPACKGEN_STATUS_BUFFER_ERROR;
}

static int dlpackgen_shim_make(const struct dlpackgen_shim_frame* frame, const struct dlpackgen_result* like,
                               int32_t device, int32_t index, void** made, DLTensor* borrowed,
                               struct dlpackgen_message* message) {
  if (dlpackgen_shim_number_of(like->dtype) < 0) {
    dlpackgen_put(message, DLPACKGEN_TEXT_NO_TORCH_DTYPE);
    dlpackgen_put_dtype(message, DLPACKGEN_DTYPE(like->dtype.code, like->dtype.bits, like->dtype.lanes));
    return DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR;
  }
  if (dlpackgen_shim_allocate(like->dtype, like->ndim, like->shape, device, index, made) ||
      !dlpackgen_shim_read(*made, borrowed) || dlpackgen_shim.call.get_mutable_data(*made, &borrowed->data)) {
    dlpackgen_put(message, frame->op->kernel);
    dlpackgen_put(message, "(): a result could not be allocated");
    return DLPACKGEN_STATUS_MEMORY_ERROR;
  }
  return DLPACKGEN_STATUS_OK;
}

static int dlpackgen_shim_make_all(struct dlpackgen_shim_frame* frame, const void* call, DLTensor* borrowed,
                                   void** stream, struct dlpackgen_message* message) {
  const struct dlpackgen_result* like[DLPACKGEN_SHIM_MOST_RESULTS];
  void* const beside = dlpackgen_shim_like(frame);
  int32_t device = dlpackgen_shim.devices.cpu, index = 0;
  dlpackgen_shim.call.get_device_type(beside, &device);
  dlpackgen_shim.call.get_device_index(beside, &index);
  int status = dlpackgen_shim_enter(frame, device, index, stream, message);
  frame->op->results(call, like);
  for (int i = 0; !status && i < frame->op->nresults; i++)
    status = dlpackgen_shim_make(frame, like[i], device, index, &frame->made[i], &borrowed[i], message);
  return status;
}

/* The call */

/* Increments the versions of written arguments, so that backward does not use values that changed
 * after they were saved. Done before the call, which may fail midway. Tensors of inference mode
 * have no version. */
static int dlpackgen_shim_raise_versions(const struct dlpackgen_shim_frame* frame, struct dlpackgen_message* message) {
  int status = DLPACKGEN_STATUS_OK;
  for (int i = 0; !status && i < frame->op->narguments; i++) {
    if (!frame->op->arguments[i].writes) continue;
    if (!dlpackgen_shim.cpp.is_inference(frame->owned[i].handle))
      dlpackgen_shim.cpp.bump_version(frame->owned[i].handle);
    else if (!dlpackgen_shim.cpp.inference_mode())
      status = dlpackgen_shim_reject(frame->op, DLPACKGEN_STATUS_RUNTIME_ERROR,
                                     "(): Inplace update to inference tensor outside InferenceMode is not allowed: "
                                     "write to a clone() of it",
                                     message);
  }
  return status;
}

static int dlpackgen_shim_run(struct dlpackgen_shim_frame* frame, void* call, struct dlpackgen_shim_value* values,
                              struct dlpackgen_message* message) {
  DLTensor borrowed[DLPACKGEN_SHIM_MOST_RESULTS];
  void* stream = NULL;
  int status = dlpackgen_shim_reject_derivatives(frame, message);
  if (!status) status = dlpackgen_shim_read_all(frame, values, message);
  if (!status) status = frame->op->fill(frame->op, call, values, message);
  if (!status) status = dlpackgen_shim_make_all(frame, call, borrowed, &stream, message);
  if (!status) status = dlpackgen_shim_raise_versions(frame, message);
  return status ? status : frame->op->run(call, borrowed, stream, message);
}

/* Runs an operator, and releases its resources. */
static int dlpackgen_shim_call_within(const struct dlpackgen_shim_operator* op, void* call,
                                      struct dlpackgen_shim_value* values, struct dlpackgen_shim_owned* owned,
                                      dlpackgen_shim_cell* stack, struct dlpackgen_message* message) {
  void* made[DLPACKGEN_SHIM_MOST_RESULTS] = {NULL};
  struct dlpackgen_shim_frame frame = {op, owned, made, NULL};
  dlpackgen_shim_own_all(op->arguments, op->narguments, stack, values, owned);
  const int status = dlpackgen_shim_run(&frame, call, values, message);
  for (int i = 0; !status && i < op->nreturned; i++) {
    stack[i] = (dlpackgen_shim_cell)(uintptr_t)made[op->returned[i]];
    made[op->returned[i]] = NULL;
  }
  dlpackgen_shim_end(&frame);
  return status;
}

/* The function that the dispatcher calls, with memory for the resources of the call. May be called
 * on any thread, with or without the GIL. */
static void dlpackgen_shim_call_boxed(const struct dlpackgen_shim_operator* op, void* call,
                                      struct dlpackgen_shim_value* values, struct dlpackgen_shim_owned* owned,
                                      dlpackgen_shim_cell* stack) {
  char text[DLPACKGEN_SHIM_SENTENCE];
  struct dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  const int status = dlpackgen_shim_call_within(op, call, values, owned, stack, &message);
  if (status) dlpackgen_shim_raise(status, text);
}

/* Registration */

static int dlpackgen_shim_failed(const char* what, const char* name, struct dlpackgen_message* message) {
  const char* const why = dlpackgen_shim.call.last_error ? dlpackgen_shim.call.last_error() : NULL;
  dlpackgen_put(message, "torch ");
  dlpackgen_put(message, what);
  dlpackgen_put(message, name);
  if (why && *why) dlpackgen_put(message, ": ");
  if (why) dlpackgen_put(message, why);
  return DLPACKGEN_STATUS_RUNTIME_ERROR;
}

/* Defines an operator; the handles are kept until the process ends. */
static int dlpackgen_shim_define(const struct dlpackgen_shim_operator* op, struct dlpackgen_message* message) {
  const struct dlpackgen_torch_shim_functions* const call = &dlpackgen_shim.call;
  void* library = NULL;
  if (call->library_fragment(op->space, __FILE__, 0, &library) || call->define(library, op->schema) ||
      (op->boxed_schema && call->define(library, op->boxed_schema)))
    return dlpackgen_shim_failed("did not define the operator ", op->name, message);
  for (const char* const* key = op->keys; *key; key++) {
    if (call->library_impl(op->space, *key, __FILE__, 0, &library) ||
        call->implement(library, op->boxed_name, op->boxed, call->version()))
      return dlpackgen_shim_failed("did not accept the kernel of the operator ", op->name, message);
  }
  return DLPACKGEN_STATUS_OK;
}

/* Whether this version of torch can pass the optional arguments of an operator. */
static int dlpackgen_shim_check_optional(const struct dlpackgen_shim_operator* op, struct dlpackgen_message* message) {
  if (dlpackgen_shim.call.delete_optional || dlpackgen_shim.cpp.operator_delete) return DLPACKGEN_STATUS_OK;
  for (int i = 0; i < op->narguments; i++) {
    const struct dlpackgen_site at = dlpackgen_shim_site(op, i);
    if (op->arguments[i].optional)
      return dlpackgen_shim_fail(&at, DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR,
                                 "it may be None, which needs torch 2.13 or newer", message);
  }
  return DLPACKGEN_STATUS_OK;
}

static int dlpackgen_shim_find_torch(const char* file, bool is_rocm, const struct dlpackgen_loaded_dtype* dtypes,
                                     size_t count, struct dlpackgen_message* message) {
  void* const library = dlpackgen_loaded_open(file);
  const char* const missing = library ? dlpackgen_shim_link(library) : file;
#ifdef _WIN32
  dlpackgen_put(message, "operators through torch's C shim are not available on Windows: use target torch");
  return DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR;
#endif
  if (missing) {
    dlpackgen_put(message, library ? "this torch does not export " : "this is not a loaded library of torch: ");
    dlpackgen_put(message, missing);
    if (library) dlpackgen_put(message, ": use torch 2.10 or newer, or target torch");
    return DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR;
  }
  dlpackgen_loaded_store_dtypes(library, dtypes, count, dlpackgen_shim.dtypes);
  dlpackgen_shim_find_devices(&dlpackgen_shim.call, is_rocm, &dlpackgen_shim.devices);
  dlpackgen_shim_find_exceptions(library);
  return DLPACKGEN_STATUS_OK;
}

#endif /* DLPACKGEN_TORCHSHIM_CALL_H_ */
