
/* Disables warnings about unused functions: backends share these parts, and none uses all
 * functions. */
#ifndef DLPACKGEN_DEVICE_WARNINGS_H_
#define DLPACKGEN_DEVICE_WARNINGS_H_

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#endif

#endif /* DLPACKGEN_DEVICE_WARNINGS_H_ */
