/* Threads that use oneAPI's back end all at once, from the first call on. */
#include "dlpackgen_oneapi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, ROUNDS = 100 };
static DLManagedTensorVersioned *shared;
static pthread_barrier_t all;

static void must(int code, const dlpackgen_device_error *error) {
	if (code) fprintf(stderr, "%s\n", error->text), exit(1);
}

static void *work(void *number) {
	const dlpackgen_device *d = dlpackgen_oneapi();
	const int32_t id = (int32_t)(intptr_t)number % 2;
	const int64_t shape[] = {8};
	const dlpackgen_device_request r = {{kDLOneAPI, id}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
	const dlpackgen_device_stream one = {NULL, {kDLOneAPI, id}, 0, 0}, two = {NULL, {kDLOneAPI, 1 - id}, 0, 0};
	dlpackgen_device_error e;
	dlpackgen_device_pointer p;
	pthread_barrier_wait(&all);
	if (!number) must(d->alloc(&r, &shared, &e), &e);
	must(d->probe(NULL, &e), &e);
	pthread_barrier_wait(&all);
	must(d->keep_until(shared, &one, &e), &e);
	must(d->keep_until(shared, &two, &e), &e);
	for (int i = 0; i < ROUNDS; i++) {
		DLManagedTensorVersioned *a = NULL, *b = NULL;
		must(d->alloc(&r, &a, &e), &e);
		must(d->alloc(&r, &b, &e), &e);
		must(d->pointer_info(a->dl_tensor.data, &p, &e), &e);
		must(d->order_after(&two, &one, &e), &e);
		must(d->keep_until(a, &two, &e), &e);
		must(d->keep_until(shared, &one, &e), &e);
		must(d->copy(&a->dl_tensor, &b->dl_tensor, &one, &e), &e);
		must(d->free(a, &e), &e);
		b->deleter(b);
	}
	return NULL;
}

int main(void) {
	pthread_t threads[THREADS];
	pthread_barrier_init(&all, NULL, THREADS);
	for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
	shared->deleter(shared);
	puts("done");
	return 0;
}
