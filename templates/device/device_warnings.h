
/* The parts of a backend's C file are common to all backends, and no backend uses all of their
 * functions. */
#ifndef DLPACKGEN_DEVICE_WARNINGS_H_
#define DLPACKGEN_DEVICE_WARNINGS_H_

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#endif

#endif /* DLPACKGEN_DEVICE_WARNINGS_H_ */
