/* Starts the backend and prints the result. */
#include BACKEND_HEADER

#include <stdio.h>

int main(void) {
  const dlpackgen_backend* d = BACKEND_TABLE();
  dlpackgen_backend_error e = {0, 0, ""};
  dlpackgen_driver_info f = DLPACKGEN_DRIVER_INFO_INIT;
  const int64_t shape[] = {4};
  const dlpackgen_allocation r = {sizeof r, {(DLDeviceType)d->device_type, 1}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
  DLManagedTensorVersioned* t = NULL;
  const int code = d->probe(&f, &e);
  printf("probe %d %d %s\n", code, (int)f.devices, e.text);
  if (!d->allocate(&r, &t, &e)) printf("alloc and free %d\n", d->deallocate(t, &e));
  return 0;
}
