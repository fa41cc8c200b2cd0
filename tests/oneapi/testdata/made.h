/* The client's own objects, created without the backend: memory and streams of every kind, with the
 * interface under the backend. */
#include "dlpackgen_usm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* device, shared, host, other (of another context); part: of the device's parts, -1 for the
 * whole. */
void* made_memory(const char* kind, int device, int part);
void made_free(void* memory, int device);
/* order, loose, other (of another context), recorded, own (of SYCL alone: with the memory of
 * `other`). */
void* made_stream(const char* kind, int device, int part);
/* The handle of a root device for dlpackgen_usm_id. */
void* made_root(int device);
/* A step for only one implementation; returns whether it is known. */
int made_step(const char* name, const char* a, const char* b, const char* c);

#ifdef __cplusplus
}
#endif
