
/* The functions of a driver that the common sources of a backend need; the driver here is the
 * operating system. Part of the backend's C file. */
#ifndef DLPACKGEN_DEVICE_DRIVER_H_
#define DLPACKGEN_DEVICE_DRIVER_H_

#include "dlpackgen_shm.h"

#define BACKEND_NAME "shm"

#endif /* DLPACKGEN_DEVICE_DRIVER_H_ */
