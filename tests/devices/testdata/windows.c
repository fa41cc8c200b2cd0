/* Starts the back end and says what came of it. */
#include BACKEND_HEADER

#include <stdio.h>

int main(void) {
	const dlpackgen_device *d = BACKEND_TABLE();
	dlpackgen_device_error e = {0, 0, ""};
	dlpackgen_device_facts f = {0, 0, 0};
	const int64_t shape[] = {4};
	const dlpackgen_device_request r = {{(DLDeviceType)d->device_type, 1}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
	DLManagedTensorVersioned *t = NULL;
	const int code = d->probe(&f, &e);
	printf("probe %d %d %s\n", code, (int)f.devices, e.text);
	if (!d->alloc(&r, &t, &e)) printf("alloc and free %d\n", d->free(t, &e));
	return 0;
}
