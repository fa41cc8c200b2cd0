/* New tensors, by the library of an argument. Part of exchange.c. */
#ifndef DLPACKGEN_PYTHON_RESULT_H_
#define DLPACKGEN_PYTHON_RESULT_H_

#include <dlpackgen_python/object.h>

/* The SetError of a foreign allocator; the context is not needed. */
static void dlpackgen_set_error(void *context, const char *kind, const char *message) {
	PyObject *known = PyExc_RuntimeError;
	(void)context;
	if (kind && strcmp(kind, "MemoryError") == 0) known = PyExc_MemoryError;
	else if (kind && strcmp(kind, "BufferError") == 0) known = PyExc_BufferError;
	else if (kind && strcmp(kind, "ValueError") == 0) known = PyExc_ValueError;
	else if (kind && strcmp(kind, "TypeError") == 0) known = PyExc_TypeError;
	PyErr_SetString(known, message ? message : "a library could not allocate a tensor");
}

/* What a foreign allocator gives is written to, so it must be what was asked for. */
static int dlpackgen_is_as_asked(const DLManagedTensorVersioned *made, const DLTensor *asked) {
	if (dlpack_validate_versioned(made, 0) != DLPACK_OK) return 0;
	const DLTensor *got = &made->dl_tensor;
	return dlpackgen_dtype_of(got) == dlpackgen_dtype_of(asked) && dlpackgen_has_shape(got, asked) &&
	    dlpack_is_row_major(got) && dlpackgen_same_device(got->device, asked->device) &&
	    !(made->flags & DLPACK_FLAG_BITMASK_READ_ONLY);
}

static DLManagedTensorVersioned *dlpackgen_allocate_by_table(const DLPackExchangeAPI *api, DLTensor *asked) {
	DLManagedTensorVersioned *made = NULL;
	if (api->managed_tensor_allocator(asked, &made, NULL, dlpackgen_set_error) || !made) {
		dlpackgen_failed(PyExc_RuntimeError, "its library could not allocate a tensor");
		return NULL;
	}
	if (dlpackgen_is_as_asked(made, asked)) return made;
	dlpackgen_delete_quietly(made, NULL);
	dlpackgen_refuse("its library allocated another tensor than was asked for");
	return NULL;
}

/* Finds the table that makes tensors of an argument's library, or none. The route was
 * not put down for the call, which most calls have no use for. */
static int dlpackgen_maker(const struct dlpackgen_call *call, int like, const DLPackExchangeAPI **makes) {
	PyObject *object = call->arguments[like].object;
	const struct dlpackgen_route *route = object ? dlpackgen_route_of(call->state, object) : NULL;
	*makes = route ? route->makes : NULL;
	return object && !route ? dlpackgen_about(call->function, like) : 0;
}

DLPACKGEN_PYTHON_API DLManagedTensorVersioned *dlpackgen_empty(
    struct dlpackgen_call *call, int like, DLDataType dtype, int32_t ndim, const int64_t *shape) {
	const struct dlpackgen_argument *a = &call->arguments[like];
	const struct dlpackgen_backend *backend = NULL;
	const DLPackExchangeAPI *makes = NULL;
	DLManagedTensorVersioned *made = NULL;
	char where[32];
	DLTensor asked;
	int64_t bytes;
	memset(&asked, 0, sizeof asked);
	asked.device = a->tensor.device;
	if (!a->object) asked.device.device_type = kDLCPU;
	asked.dtype = dtype;
	asked.ndim = ndim;
	asked.shape = (int64_t *)(uintptr_t)shape;
	if (ndim > DLPACKGEN_MAX_NDIM || dlpack_nbytes(&asked, 0, &bytes) != DLPACK_OK)
		PyErr_SetString(PyExc_ValueError, "the result has no shape that a tensor can have");
	else if (dlpackgen_maker(call, like, &makes)) return NULL;
	else if (makes) made = dlpackgen_allocate_by_table(makes, &asked);
	else if (asked.device.device_type == kDLCPU) made = dlpackgen_allocate(dtype, ndim, shape);
	else if ((backend = dlpackgen_streams_at(call->state, asked.device)) != NULL)
		made = dlpackgen_allocate_by_backend(call, backend->table, &asked);
	else
		PyErr_Format(PyExc_BufferError, "its library cannot be asked for memory on %s",
		    dlpackgen_device_text(asked.device, where));
	if (!made) dlpackgen_about(call->function, like);
	return made;
}

/* Gives the from_dlpack of the package that a type is from; as dlpackgen_optional(). */
static PyObject *dlpackgen_from_dlpack_of(struct dlpackgen_state *state, PyObject *type) {
	PyObject *home = PyObject_GetAttr(type, state->module_name);
	const char *name = home && PyUnicode_Check(home) ? PyUnicode_AsUTF8AndSize(home, NULL) : NULL;
	const size_t length = name ? strcspn(name, ".") : 0;
	PyObject *package = name ? PyUnicode_FromStringAndSize(name, (Py_ssize_t)length) : NULL;
	PyObject *module = package ? PyImport_GetModule(package) : NULL;
	Py_XDECREF(home);
	Py_XDECREF(package);
	PyErr_Clear();
	PyObject *found = module ? PyObject_GetAttr(module, state->from_dlpack) : NULL;
	Py_XDECREF(module);
	if (!found) PyErr_Clear();
	return found;
}

/* Gives the from_dlpack of the array namespace of an object, or else of the package that
 * its type is from, or the first of its bases whose package has one, as somebody's own
 * kind of torch.Tensor does: a new reference, or NULL, without an exception where there
 * is none. */
static PyObject *dlpackgen_from_dlpack(struct dlpackgen_state *state, PyObject *object) {
	PyObject *space = PyObject_CallMethodObjArgs(object, state->array_namespace, NULL);
	PyObject *found = space ? PyObject_GetAttr(space, state->from_dlpack) : NULL;
	Py_XDECREF(space);
	PyErr_Clear();
	if (space) return found;
	PyObject *bases = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__mro__");
	const Py_ssize_t count = bases && PyTuple_Check(bases) ? PyTuple_Size(bases) : 0;
	for (Py_ssize_t i = 0; i < count && !found; i++)
		found = dlpackgen_from_dlpack_of(state, PyTuple_GetItem(bases, i));
	Py_XDECREF(bases);
	PyErr_Clear();
	return found;
}

static PyObject *dlpackgen_wrap_by_table(const DLPackExchangeAPI *api, DLManagedTensorVersioned *tensor) {
	void *made = NULL;
	if (api->managed_tensor_to_py_object_no_sync(tensor, &made) == 0 && made) return (PyObject *)made;
	dlpackgen_delete_quietly(tensor, NULL); /* who fails has not taken it over, as torch and tvm-ffi do it */
	dlpackgen_failed(PyExc_RuntimeError, "its exchange table made no object of a tensor");
	return NULL;
}

/* Gives out what the call still works on: whoever takes it waits for the stream. Its
 * deleter is told of that stream, which may be gone by then. */
static PyObject *dlpackgen_give_unfinished(struct dlpackgen_call *call, DLManagedTensorVersioned *tensor) {
	const struct dlpackgen_backend *found = dlpackgen_streams_at(call->state, tensor->dl_tensor.device);
	const dlpackgen_device_stream stream = dlpackgen_stream_at(tensor->dl_tensor.device, call->stream);
	const dlpackgen_device *const table =
	    found && tensor->dl_tensor.device.device_type != kDLCPU ? found->table : NULL;
	if (table && call->stream) (void)table->keep_until(tensor, &stream, NULL);
	PyObject *made = dlpackgen_give(call->module, tensor);
	if (made && table) {
		((struct dlpackgen_object *)made)->table = table;
		((struct dlpackgen_object *)made)->stream = call->stream;
	}
	return made;
}

static PyObject *dlpackgen_wrap_by_python(
    struct dlpackgen_call *call, PyObject *like, DLManagedTensorVersioned *tensor) {
	PyObject *ours = dlpackgen_give_unfinished(call, tensor);
	PyObject *from = ours ? dlpackgen_from_dlpack(call->state, like) : NULL;
	PyObject *made = ours;
	if (from) {
		made = PyObject_CallFunctionObjArgs(from, ours, NULL);
		Py_DECREF(ours);
	}
	Py_XDECREF(from);
	return made;
}

DLPACKGEN_PYTHON_API PyObject *dlpackgen_wrap(struct dlpackgen_call *call, int like, DLManagedTensorVersioned *tensor) {
	const struct dlpackgen_argument *a = &call->arguments[like];
	const DLPackExchangeAPI *makes = NULL;
	PyObject *made = NULL;
	if (dlpackgen_maker(call, like, &makes)) {
		dlpackgen_delete_quietly(tensor, NULL);
		return NULL;
	}
	if (!a->object) made = dlpackgen_give(call->module, tensor);
	else if (makes) made = dlpackgen_wrap_by_table(makes, tensor);
	else made = dlpackgen_wrap_by_python(call, a->object, tensor);
	if (!made) dlpackgen_about(call->function, like);
	return made;
}

#endif
