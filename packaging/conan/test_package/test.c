/* The C headers of the package compile, and know their release. */
#include <dlpackgen/abi_check.h>
#include <dlpackgen/rules.h>

int main(void) { return DLPACK_MAJOR_VERSION < 1; }
