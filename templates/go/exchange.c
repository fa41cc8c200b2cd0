//go:build dlpackgen_template && cgo && !(386 || arm || mips || mipsle || wasm)

#include "exchange.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

typedef struct dlp_00000000_failure failure;
typedef struct dlp_00000000_answer answer;
typedef struct dlp_00000000_callee callee;
typedef struct dlp_00000000_view view;

static const DLPackExchangeAPI *table_of(callee to) { return (const DLPackExchangeAPI *)to.table; }

static char *copy(const char *text) {
	if (!text) return NULL;
	size_t size = strlen(text) + 1;
	char *made = malloc(size);
	return made ? memcpy(made, text, size) : NULL;
}

/* SetError. What counts is the first call: it knows the cause. */
static void note(void *error_ctx, const char *kind, const char *message) {
	failure *f = error_ctx;
	if (f->told++) return;
	f->kind = copy(kind);
	f->message = copy(message);
}

static int fail(failure *f, int why, int op) {
	f->why = (uint16_t)why;
	f->op = (uint16_t)op;
	return -1;
}

/* A pending error belongs to this thread, so it is read before Go runs again. */
static int refused(callee to, failure *f, int op) {
	if (!f->told && to.explain) ((dlp_00000000_explain)to.explain)(f, note);
	return fail(f, dlp_00000000_REFUSED, op);
}

/* A function may have set an error and then returned success. */
static void forget(failure *f) {
	free(f->kind);
	free(f->message);
	f->kind = f->message = NULL;
}

static void delete_managed(DLManagedTensorVersioned *managed) {
	if (managed && managed->deleter) managed->deleter(managed);
}

static void drop(view *v) {
	DLManagedTensorVersioned *owner = (DLManagedTensorVersioned *)v->owner;
	v->owner = 0;
	delete_managed(owner);
}

void dlp_00000000_give_back(uint64_t *words, size_t count) {
	view *views = (view *)words;
	for (size_t i = 0; i < count; i++) drop(&views[i]);
}

static DLManagedTensorVersioned *own(callee to, void *object, failure *f) {
	DLManagedTensorVersioned *managed = NULL;
	if (table_of(to)->managed_tensor_from_py_object_no_sync(object, &managed)) {
		refused(to, f, dlp_00000000_OP_MANAGED);
		return NULL;
	}
	if (!managed) fail(f, dlp_00000000_NOTHING, dlp_00000000_OP_MANAGED);
	return managed;
}

/* Views over a table that cannot lend hold a tensor of their own. */
static int own_for_view(callee to, view *v, failure *f) {
	DLManagedTensorVersioned *managed = own(to, (void *)v->object, f);
	if (!managed) return -1;
	if (managed->version.major != DLPACK_MAJOR_VERSION) {
		delete_managed(managed);
		return fail(f, dlp_00000000_VERSION, dlp_00000000_OP_MANAGED);
	}
	v->owner = (uintptr_t)managed;
	v->flags = managed->flags;
	v->tensor = managed->dl_tensor;
	return 0;
}

static int lend(callee to, view *v, failure *f) {
	DLPackDLTensorFromPyObjectNoSync function = table_of(to)->dltensor_from_py_object_no_sync;
	if (!function) return own_for_view(to, v, f);
	v->flags = 0;
	memset(&v->tensor, 0, sizeof v->tensor); /* a function that fills nothing shall be found out */
	if (function((void *)v->object, &v->tensor)) return refused(to, f, dlp_00000000_OP_BORROW);
	return 0;
}

/* A loop: of a few numbers, a call of memcpy would cost more than the copying. */
static int64_t *copy_dims(int64_t *to, const int64_t *from, int32_t n) {
	if (!from) return NULL;
	for (int32_t i = 0; i < n; i++) to[i] = from[i];
	return to;
}

/* Copies shape and strides: the producer's own may change with the object, when
 * another thread resizes it. A bad ndim stays, for Go to complain about. */
static void keep_dims(view *v) {
	DLTensor *t = &v->tensor;
	const int32_t n = t->ndim;
	if (n <= 0 || n > dlp_00000000_VIEW_NDIM) {
		t->shape = t->strides = NULL;
		return;
	}
	t->shape = copy_dims(v->dims, t->shape, n);
	t->strides = copy_dims(v->dims + n, t->strides, n);
}

static int ask_stream(callee to, DLDevice device, uintptr_t *stream, failure *f) {
	void *out = NULL;
	if (table_of(to)->current_work_stream(device.device_type, device.device_id, &out)) return refused(to, f, dlp_00000000_OP_STREAM);
	*stream = (uintptr_t)out;
	return 0;
}

/* A CPU has no streams, so its producer need not be asked; and of one device
 * there is one current stream. */
static int add_stream(callee to, view *v, const view *previous, failure *f) {
	const DLDevice device = v->tensor.device;
	v->stream = 0;
	if (device.device_type == kDLCPU) return 0;
	if (previous && previous->tensor.device.device_type == device.device_type && previous->tensor.device.device_id == device.device_id) {
		v->stream = previous->stream;
		return 0;
	}
	return ask_stream(to, device, &v->stream, f);
}

failure dlp_00000000_borrow(callee to, uint64_t *words, size_t count) {
	view *views = (view *)words;
	failure f = {0};
	for (size_t i = 0; i < count; i++) {
		view *v = &views[i];
		if (v->owner) drop(v);
		if (!lend(to, v, &f)) {
			keep_dims(v);
			if (!add_stream(to, v, i ? v - 1 : NULL, &f)) continue;
		}
		f.index = i;
		dlp_00000000_give_back(words, count);
		return f;
	}
	return f;
}

answer dlp_00000000_managed(callee to, uintptr_t object) {
	answer a = {0};
	a.value = (uintptr_t)own(to, (void *)object, &a.failure);
	return a;
}

answer dlp_00000000_stream(callee to, DLDevice device) {
	answer a = {0};
	ask_stream(to, device, &a.value, &a.failure);
	return a;
}

answer dlp_00000000_allocate(callee to, DLDataType dtype, DLDevice device, int32_t ndim, struct dlp_00000000_extents few, int64_t *many) {
	answer a = {0};
	DLManagedTensorVersioned *made = NULL;
	DLTensor prototype = {NULL, device, ndim, dtype, many ? many : few.n, NULL, 0};
	if (table_of(to)->managed_tensor_allocator(&prototype, &made, &a.failure, note))
		refused(to, &a.failure, dlp_00000000_OP_ALLOCATE);
	else {
		forget(&a.failure);
		if (!made) fail(&a.failure, dlp_00000000_NOTHING, dlp_00000000_OP_ALLOCATE);
	}
	a.value = (uintptr_t)made;
	return a;
}

/* DLPack does not say who deletes the tensor when the function fails: some do,
 * some leave it to the caller. It therefore gets a tensor that holds one of two
 * references to the true one, and whether that one is still there tells. */
answer dlp_00000000_wrap(callee to, uintptr_t tensor, int legacy) {
	answer a = {0};
	void *out = NULL;
	dlp_00000000_object *held = dlp_00000000_object_new((void *)tensor, legacy);
	DLManagedTensorVersioned *given = held ? dlp_00000000_object_managed(held) : NULL;
	if (!held) dlp_00000000_delete_any((void *)tensor, legacy);
	if (!given) {
		fail(&a.failure, dlp_00000000_NO_MEMORY, dlp_00000000_OP_WRAP);
	} else if (table_of(to)->managed_tensor_to_py_object_no_sync(given, &out)) {
		refused(to, &a.failure, dlp_00000000_OP_WRAP);
		if (dlp_00000000_object_shared(held)) delete_managed(given);
	} else if (!out) {
		fail(&a.failure, dlp_00000000_NOTHING, dlp_00000000_OP_WRAP);
	}
	a.value = (uintptr_t)out;
	if (held) dlp_00000000_object_release(held);
	return a;
}
