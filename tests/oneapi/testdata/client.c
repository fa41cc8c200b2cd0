/* Does to oneAPI's back end what its arguments say, a step an argument, and prints a
 * line for each: "NAME ok ..." or "NAME CODE NATIVE TEXT". Streams are written 0, sN
 * for the Nth one that was made, - for none, =K for a handle that is the number K;
 * addresses tN for a tensor's, pN for one that was made, h for one of the host's, n
 * for NULL; +K adds bytes. A step that begins with ~ asks the table that takes every
 * kind of memory. */
#define _GNU_SOURCE
#include "dlpackgen_oneapi.h"
#include "made.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const dlpackgen_device *device;
static const dlpackgen_usm_table *usm;
static DLManagedTensorVersioned *tensors[256];
static void *pointers[64], *handles[64];
static int tensor_count, pointer_count, stream_count, every;
static char words[8][64];
static char host[256];
static dlpackgen_device_error error;

static int number(const char *word) { return (int)strtol(word, NULL, 10); }

static char *at(const char *word) {
	const char *more = strchr(word, '+');
	const int n = number(word + 1);
	char *p = *word == 't' ? tensors[n]->dl_tensor.data : *word == 'p' ? pointers[n] : *word == 'h' ? host : NULL;
	return p ? p + (more ? number(more) : 0) : NULL;
}

static dlpackgen_device_stream on(const char *stream, const char *id) {
	dlpackgen_device_stream s = {NULL, {kDLOneAPI, number(id)}, *stream == '-', 0};
	if (*stream == 's') s.handle = handles[number(stream + 1)];
	else if (*stream == '=') s.handle = (void *)(uintptr_t)number(stream + 1);
	return s;
}

static int tell(const char *name, int code) {
	if (code) printf("%s %d %d %s\n", name, error.code, error.native, error.text);
	else printf("%s ok", name);
	return code;
}

/* alloc:ID:ELEMENTS:STREAM:TYPE */
static void alloc(void) {
	const int64_t shape[] = {strtoll(words[2], NULL, 10)};
	const dlpackgen_device_request r = {{words[4][0] ? (DLDeviceType)number(words[4]) : kDLOneAPI, number(words[1])},
	                                    {kDLFloat, 32, 1}, 1, shape, on(words[3][0] ? words[3] : "0", "0").handle, 0};
	if (tell("alloc", device->alloc(&r, &tensors[tensor_count], &error))) return;
	const DLTensor *t = &tensors[tensor_count++]->dl_tensor;
	printf(" %d %d %lld %lld %s\n", (int)t->device.device_type, t->device.device_id, (long long)t->shape[0],
	       (long long)t->strides[0], t->data ? "data" : "null");
}

static void print_info(const dlpackgen_device_pointer *p, const char *address) {
	printf(" %d %d %d +%lld %zu\n", (int)p->device.device_type, p->device.device_id, p->ordinal,
	       p->base ? (long long)(address - (const char *)p->base) : -1LL, p->size);
}

static void info(void) {
	dlpackgen_device_pointer p;
	if (!strcmp(words[0], "infonull")) {
		if (!tell("infonull", device->pointer_info(tensors[0]->dl_tensor.data, NULL, &error))) printf("\n");
		return;
	}
	const char *address = at(words[1]);
	if (!tell("info", device->pointer_info(address, &p, &error))) print_info(&p, address);
}

/* import:ID:AT:ELEMENTS:TYPE */
static void import(void) {
	dlpackgen_device_pointer p;
	int64_t shape[] = {strtoll(words[3], NULL, 10)};
	const DLTensor t = {at(words[2]), {words[4][0] ? (DLDeviceType)number(words[4]) : kDLOneAPI, number(words[1])}, 1,
	                    {kDLUInt, 8, 1}, shape, NULL, 0};
	if (!tell("import", usm->import(&t, every, &p, &error))) print_info(&p, t.data);
}

/* A DLTensor of bytes: copy:TYPE:ID:AT:TYPE:ID:AT:BYTES@STREAM@ID. */
static void copy(void) {
	int64_t shape[] = {strtoll(words[7], NULL, 10)}, two[] = {2};
	char *stream = strchr(words[7], '@') + 1, *id = strchr(stream, '@') + 1;
	DLTensor to = {at(words[3]), {(DLDeviceType)number(words[1]), number(words[2])}, 1, {kDLUInt, 8, 1}, shape, NULL, 0}, from = to;
	from.data = at(words[6]), from.device.device_type = (DLDeviceType)number(words[4]), from.device.device_id = number(words[5]);
	if (strchr(id, 'x')) from.strides = two;
	const dlpackgen_device_stream s = on(stream, id);
	if (!tell("copy", device->copy(&to, &from, &s, &error))) printf("\n");
}

static void read_number(void) {
	dlpackgen_device_stream s;
	const int64_t n = strtoll(words[3], NULL, 10);
	const DLDevice d = {(DLDeviceType)number(words[1]), number(words[2])};
	if (!tell("stream", device->stream_from_dlpack(d, strcmp(words[3], "none") ? &n : NULL, &s, &error)))
		printf(" %llu %d %d\n", (unsigned long long)(uintptr_t)s.handle, s.device.device_id, s.unordered);
}

static int callback(void *state, DLDevice d, void **handle) {
	*handle = (char *)state + d.device_id;
	return d.device_id == 1 ? 77 : 0;
}

static void current(void) {
	dlpackgen_device_stream s;
	void *const by_id[] = {(void *)4096};
	const dlpackgen_device_source table = {NULL, NULL, by_id, 1}, called = {callback, (void *)8192, NULL, 0};
	const dlpackgen_device_source *from = *words[1] == 't' ? &table : *words[1] == 'c' ? &called : NULL;
	if (!tell("current", device->current_stream(from, (DLDevice){kDLOneAPI, number(words[2])}, &s, &error)))
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

static void id(void) {
	int32_t n = -1;
	if (!tell("id", usm->id(number(words[1]), &n, &error))) printf(" %d\n", n);
}

/* ids: of Level Zero alone; ids:5:-:7: of the first device and the third;
 * ids:-: of none; ids:n: NULL in the place of one. */
static void ids(void) {
	dlpackgen_usm_id rows[8];
	size_t n = 0;
	for (int i = 1; i < 8 && words[i][0]; i++)
		if (strcmp(words[i], "-")) rows[n++] = (dlpackgen_usm_id){*words[i] == 'x' ? host : made_root(i - 1), number(words[i]), 0};
	if (!tell("ids", usm->number(words[1][0] && words[1][0] != 'n' ? rows : NULL, n, &error))) printf("\n");
}

/* NULL in every place that takes a pointer. */
static void nulls(void) {
	int32_t first = 0;
	(void)usm->id(0, &first, NULL);
	const DLDevice d = {kDLOneAPI, first};
	const dlpackgen_device_stream s = {NULL, d, 0, 0};
	char byte = 0;
	int codes[] = {device->device_count(NULL, &error), device->pointer_info(&byte, NULL, &error), device->pointer_info(NULL, NULL, &error),
	               device->alloc(NULL, NULL, &error), device->current_stream(NULL, d, NULL, &error),
	               device->stream_from_dlpack(d, NULL, NULL, &error), device->order_after(NULL, &s, &error),
	               device->order_after(&s, NULL, &error), device->keep_until(NULL, &s, &error), device->copy(NULL, NULL, &s, &error),
	               device->finish(NULL, &error), device->finish(NULL, NULL), usm->id(0, NULL, &error), usm->import(NULL, 0, NULL, NULL)};
	printf("nulls");
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) printf(" %d", codes[i]);
	printf(" %d\n", device->free(NULL, NULL));
}

/* Whether a library of the driver is mapped into the process, and seen by all of it. */
static void mapped(void) {
	char line[512];
	int found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, "libze_") != NULL;
	if (maps) fclose(maps);
	printf("mapped %d global %d\n", found, dlsym(RTLD_DEFAULT, "zeInit") != NULL);
}

static void make(void) {
	if (!strcmp(words[0], "make")) pointers[pointer_count++] = made_memory(words[1], number(words[2]), words[3][0] ? number(words[3]) : -1);
	if (!strcmp(words[0], "drop")) made_free(pointers[number(words[1])], number(words[2]));
	if (!strcmp(words[0], "open")) handles[stream_count++] = made_stream(words[1], number(words[2]), words[3][0] ? number(words[3]) : -1);
	if (!strcmp(words[0], "say")) snprintf(host + number(words[1]), sizeof host / 2, "%s", words[2]);
	if (!strcmp(words[0], "host")) printf("host %s\n", host + number(words[1]));
}

static void step(const char *text) {
	static const struct { const char *name; void (*run)(void); } steps[] = {
	    {"probe", probe}, {"count", count}, {"id", id}, {"ids", ids}, {"alloc", alloc}, {"info", info}, {"infonull", info}, {"import", import},
	    {"copy", copy}, {"stream", read_number}, {"current", current}, {"free", lifetime}, {"keep", lifetime},
	    {"delete", lifetime}, {"deletethere", lifetime}, {"order", order}, {"finish", finish}, {"nulls", nulls},
	    {"mapped", mapped}, {"make", make}, {"drop", make}, {"open", make}, {"say", make}, {"host", make},
	};
	every = *text == '~';
	text += every;
	device = every ? usm->every : dlpackgen_oneapi();
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
	if (strcmp(words[0], "handle") == 0) made_step(words[0], (const char *)handles[number(words[1])], words[2], words[3]);
	else if (!made_step(words[0], words[1], words[2], words[3])) fprintf(stderr, "no step %s\n", words[0]), exit(3);
}

static DLManagedTensorVersioned *at_end;
static void delete_at_end(void) { if (at_end) at_end->deleter(at_end); }

int main(int argc, char **argv) {
	atexit(delete_at_end); /* before the driver is loaded, so that it runs after the driver's own end */
	int forked = 0;
	usm = dlpackgen_usm();
	if (usm->strict != dlpackgen_oneapi() || usm->abi_version != 1) return 4;
	for (int i = 1; i < argc; i++) {
		fflush(stdout);
		if (!strcmp(argv[i], "fork")) {
			const pid_t child = fork();
			if (child > 0) {
				int status = 0;
				waitpid(child, &status, 0);
				return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
			}
			forked = 1;
		} else if (!strcmp(argv[i], "atexit")) {
			at_end = tensors[0];
		} else {
			step(argv[i]);
		}
	}
	if (forked) fflush(stdout), _exit(0); /* SYCL's end would wait for threads that stayed behind */
	return 0;
}
