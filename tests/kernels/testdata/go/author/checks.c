/* A program may contain the checks of target kernels and those of the Go package. */
#include "../kernels/kernels.c"
