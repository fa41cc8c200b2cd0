/* What the scripts of this folder cannot do in Python: call deleters on threads that
 * Python knows nothing of, and look at what is there when it has ended. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

typedef void (*deleter)(void *managed);

struct work {
	deleter call;
	void *managed;
	int came_back;
};

static void *run(void *arg) {
	struct work *const work = (struct work *)arg;
	work->call(work->managed);
	work->came_back = 1;
	return NULL;
}

/* Calls a deleter on a thread of its own and waits for that, which must come back from
 * it. */
void on_a_thread(deleter call, void *managed) {
	struct work work = {call, managed, 0};
	pthread_t thread;
	if (pthread_create(&thread, NULL, run, &work) != 0) abort();
	pthread_join(thread, NULL);
	if (!work.came_back) abort();
}

static struct work work;

/* The same for a thread that nobody waits for. */
void on_a_thread_of_its_own(deleter call, void *managed) {
	pthread_t thread;
	work.call = call;
	work.managed = managed;
	work.came_back = 0;
	if (pthread_create(&thread, NULL, run, &work) != 0 || pthread_detach(thread) != 0) abort();
}

/* Whether it comes back while the caller keeps the GIL. */
int comes_back_meanwhile(deleter call, void *managed) {
	const struct timespec nap = {0, 100000000};
	on_a_thread_of_its_own(call, managed);
	nanosleep(&nap, NULL);
	return *(volatile int *)&work.came_back;
}

/* An object of Python that must outlive it: its first word counts the references. */
void expect_references(const ptrdiff_t *object) {
	if (*object < 1 || *object > 1000) abort();
}
