/* Does to a back end what its arguments say, a step an argument, and prints a line
 * for each: "NAME ok ..." or "NAME CODE NATIVE TEXT". Streams are written 0, 1, 2,
 * sN for the Nth one that was made, with - in front for no order; addresses tN for a
 * tensor's, pN for one that was made, h for one of the host's, n for NULL; +K adds
 * bytes. The macros say which back end it is, and what its driver's library is called. */
#define _GNU_SOURCE
#ifndef BACKEND_HEADER
#define BACKEND_HEADER "dlpackgen_cuda.h"
#define BACKEND_TABLE dlpackgen_cuda
#define BACKEND_LIBRARY "libcuda.so.1"
#define BACKEND_MAPPED "libcuda"
#define BACKEND_SYMBOL "cuInit"
#endif
#include BACKEND_HEADER

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const dlpackgen_device *device;
static DLManagedTensorVersioned *tensors[64];
static void *pointers[64], *handles[64];
static int tensor_count, pointer_count, stream_count;
static char words[8][64];
static char host[256];
static dlpackgen_device_error error;
static int last_code;

static void *control(const char *name) {
	void *library = dlopen(BACKEND_LIBRARY, RTLD_NOW | RTLD_NOLOAD), *found = library ? dlsym(library, name) : NULL;
	if (!found) fprintf(stderr, "no %s: the stand-in is not loaded\n", name), exit(3);
	return found;
}
#define CONTROL(type, name) ((type)control(name))

static int number(const char *word) { return (int)strtol(word, NULL, 10); }

static char *at(const char *word) {
	const char *more = strchr(word, '+');
	const int n = number(word + 1);
	char *p = *word == 't' ? tensors[n]->dl_tensor.data : *word == 'p' ? pointers[n] : *word == 'h' ? host : NULL;
	return p ? p + (more ? number(more) : 0) : NULL;
}

static dlpackgen_device_stream on(const char *stream, const char *ordinal) {
	dlpackgen_device_stream s = {NULL, {(DLDeviceType)device->device_type, number(ordinal)}, *stream == '-', 0};
	stream += s.unordered;
	s.handle = *stream == 's' ? handles[number(stream + 1)] : (void *)(uintptr_t)number(stream);
	return s;
}

static int tell(const char *name, int code) {
	last_code = code;
	if (code) printf("%s %d %d %s\n", name, error.code, error.native, error.text);
	else printf("%s ok", name);
	return code;
}

static void alloc(void) {
	dlpackgen_device_request r = {{(DLDeviceType)number(words[1]), number(words[2])}, {kDLFloat, 32, 1}, 1, NULL, NULL, 0};
	const int64_t shape[] = {strtoll(words[3], NULL, 10)};
	r.shape = shape;
	r.stream = on(words[4][0] ? words[4] : "0", "0").handle;
	r.flags = (uint64_t)number(words[5]);
	if (tell("alloc", device->alloc(&r, &tensors[tensor_count], &error))) return;
	const DLTensor *t = &tensors[tensor_count++]->dl_tensor;
	printf(" %d %d %lld %lld %s\n", (int)t->device.device_type, t->device.device_id, (long long)t->shape[0], (long long)t->strides[0],
	       t->data ? "data" : "null");
}

static void info(void) {
	dlpackgen_device_pointer p;
	const char *address = at(words[1]);
	if (tell("info", device->pointer_info(address, &p, &error))) return;
	printf(" %d %d %d +%lld %zu\n", (int)p.device.device_type, p.device.device_id, p.ordinal,
	       p.base ? (long long)(address - (const char *)p.base) : -1LL, p.size);
}

/* A DLTensor of bytes: copy:TYPE:ID:AT:TYPE:ID:AT:BYTES@STREAM@ORDINAL. */
static void copy(void) {
	int64_t shape[] = {strtoll(words[7], NULL, 10)}, one[] = {1}, two[] = {2};
	char *stream = strchr(words[7], '@') + 1, *ordinal = strchr(stream, '@') + 1;
	DLTensor to = {at(words[3]), {(DLDeviceType)number(words[1]), number(words[2])}, 1, {kDLUInt, 8, 1}, shape, one, 0}, from = to;
	from.data = at(words[6]), from.device.device_type = (DLDeviceType)number(words[4]), from.device.device_id = number(words[5]);
	if (strchr(ordinal, 'd')) from.dtype.bits = 16;
	if (strchr(ordinal, 'x')) from.strides = two;
	const dlpackgen_device_stream s = on(stream, ordinal);
	if (!tell("copy", device->copy(&to, &from, &s, &error))) printf("\n");
}

static void read_number(void) {
	dlpackgen_device_stream s;
	const int64_t n = strtoll(words[3], NULL, 10);
	const DLDevice d = {(DLDeviceType)number(words[1]), number(words[2])};
	if (!tell("number", device->stream_from_dlpack(d, strcmp(words[3], "none") ? &n : NULL, &s, &error)))
		printf(" %llu %d %d\n", (unsigned long long)(uintptr_t)s.handle, s.device.device_id, s.unordered);
}

static int callback(void *state, DLDevice d, void **handle) {
	*handle = (char *)state + d.device_id;
	return d.device_id == 2 ? 77 : 0;
}

static void current(void) {
	dlpackgen_device_stream s;
	void *const by_ordinal[] = {NULL, (void *)2};
	const dlpackgen_device_source table = {NULL, NULL, by_ordinal, 2}, called = {callback, (void *)4096, NULL, 0};
	const dlpackgen_device_source *from = *words[1] == 't' ? &table : *words[1] == 'c' ? &called : NULL;
	if (!tell("current", device->current_stream(from, (DLDevice){(DLDeviceType)device->device_type, number(words[2])}, &s, &error)))
		printf(" %llu\n", (unsigned long long)(uintptr_t)s.handle);
}

static void *delete_there(void *tensor) {
	((DLManagedTensorVersioned *)tensor)->deleter(tensor);
	return NULL;
}

static void foreign_delete(DLManagedTensorVersioned *t) { (void)t; }

static void lifetime(void) {
	static DLManagedTensorVersioned stranger = {.deleter = foreign_delete};
	DLManagedTensorVersioned *t = *words[1] == 'x' ? &stranger : *words[1] == 'n' ? NULL : tensors[number(words[1])];
	pthread_t thread;
	if (!strcmp(words[0], "free")) {
		if (!tell("free", device->free(t, &error))) printf("\n");
	} else if (!strcmp(words[0], "keep")) {
		const dlpackgen_device_stream s = on(words[2], words[3]);
		if (!tell("keep", device->keep_until(t, &s, &error))) printf("\n");
	} else if (!strcmp(words[0], "delete")) {
		t->deleter(t);
	} else if (!pthread_create(&thread, NULL, delete_there, t)) {
		pthread_join(thread, NULL);
	}
}

static void order(void) {
	const dlpackgen_device_stream c = on(words[1], words[2]), p = on(words[3], words[4]);
	if (!tell("order", device->order_after(&c, &p, &error))) printf("\n");
}

static void finish(void) {
	const dlpackgen_device_stream s = on(words[1], words[2]);
	if (!tell("finish", device->finish(&s, &error))) printf("\n");
}

static void probe(void) {
	dlpackgen_device_facts f;
	if (!tell("probe", device->probe(&f, &error))) printf(" %lld %d\n", (long long)f.version, f.devices);
}

static void count(void) {
	int32_t n = -1;
	if (!tell("count", device->device_count(&n, &error))) printf(" %d\n", n);
}

/* NULL in every place that takes a pointer. */
static void nulls(void) {
	const DLDevice own = {(DLDeviceType)device->device_type, 0};
	const dlpackgen_device_stream s = {NULL, own, 0, 0};
	char byte = 0;
	int codes[] = {device->device_count(NULL, &error),           device->pointer_info(&byte, NULL, &error),
	               device->pointer_info(NULL, NULL, &error),     device->alloc(NULL, NULL, &error),
	               device->current_stream(NULL, own, NULL, &error), device->stream_from_dlpack(own, NULL, NULL, &error),
	               device->order_after(NULL, &s, &error),        device->order_after(&s, NULL, &error),
	               device->keep_until(NULL, &s, &error),         device->copy(NULL, NULL, &s, &error),
	               device->finish(NULL, &error),                 device->finish(NULL, NULL)};
	printf("nulls");
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) printf(" %d", codes[i]);
	printf(" %d\n", device->free(NULL, NULL));
}

static void steer(void) {
	static char notes[1 << 16];
	const char *step = words[0];
	if (!strcmp(step, "inject")) CONTROL(void (*)(const char *, unsigned, int), "standin_inject")(words[1], (unsigned)number(words[2]), number(words[3]));
	if (!strcmp(step, "make")) pointers[pointer_count++] = CONTROL(void *(*)(const char *, int), "standin_make")(words[1], number(words[2]));
	if (!strcmp(step, "remember")) pointers[pointer_count++] = (char *)tensors[number(words[1])]->dl_tensor.data;
	if (!strcmp(step, "stream")) handles[stream_count++] = CONTROL(void *(*)(int, int), "standin_stream")(number(words[1]), number(words[2]));
	if (!strcmp(step, "capture")) CONTROL(void (*)(void *, unsigned, uint64_t), "standin_capture")(handles[number(words[1])], (unsigned)number(words[2]), (uint64_t)number(words[3]));
	if (!strcmp(step, "close")) CONTROL(void (*)(void *), "standin_close")(handles[number(words[1])]);
	if (!strcmp(step, "legacy")) CONTROL(void (*)(int), "standin_default_captured")(number(words[1]));
	if (!strcmp(step, "needs")) CONTROL(void (*)(int), "standin_needs_current")(number(words[1]));
	if (!strcmp(step, "alive")) printf("alive %d depth %d\n", CONTROL(int (*)(void), "standin_alive")(), CONTROL(int (*)(void), "standin_depth")());
	if (!strcmp(step, "devices")) CONTROL(void (*)(int), "standin_devices")(number(words[1]));
	if (strcmp(step, "log")) return;
	CONTROL(void (*)(char *, size_t), "standin_take")(notes, sizeof notes);
	printf("log %s\n", notes);
}

/* Whether a library of the driver is mapped into the process, and seen by all of it. */
static void mapped(void) {
	char line[512];
	int found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, BACKEND_MAPPED) != NULL;
	if (maps) fclose(maps);
	printf("mapped %d global %d\n", found, dlsym(RTLD_DEFAULT, BACKEND_SYMBOL) != NULL);
}

static void step(const char *text) {
	static const struct { const char *name; void (*run)(void); } steps[] = {
	    {"probe", probe}, {"count", count}, {"alloc", alloc}, {"info", info}, {"copy", copy}, {"number", read_number},
	    {"current", current}, {"free", lifetime}, {"keep", lifetime}, {"delete", lifetime}, {"deletethere", lifetime},
	    {"order", order}, {"finish", finish}, {"nulls", nulls}, {"mapped", mapped},
	};
	memset(words, 0, sizeof words);
	for (int i = 0; i < 8 && *text; i++) {
		const size_t n = strcspn(text, ":");
		snprintf(words[i], sizeof words[i], "%.*s", (int)n, text);
		text += n + (text[n] == ':');
	}
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (!strcmp(steps[i].name, words[0])) {
			steps[i].run();
			return;
		}
	steer();
}

static DLManagedTensorVersioned *at_end;
static void delete_at_end(void) { at_end->deleter(at_end); }

int main(int argc, char **argv) {
	device = BACKEND_TABLE();
	if (argc > 1 && !strcmp(argv[1], "preload")) (void)!dlopen(BACKEND_LIBRARY, RTLD_NOW), argv++, argc--;
	for (int i = 1; i < argc; i++) {
		fflush(stdout);
		if (!strcmp(argv[i], "fork")) {
			const pid_t child = fork();
			if (child > 0) {
				int status = 0;
				waitpid(child, &status, 0);
				return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
			}
		} else if (!strcmp(argv[i], "atexit")) {
			at_end = tensors[0];
			atexit(delete_at_end);
		} else {
			step(argv[i]);
		}
	}
	return 0;
}
