/* A program may have the checks of target kernels beside those of the Go package. */
#include "../kernels/kernels.c"
