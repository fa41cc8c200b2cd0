// The C++ headers of the package compile beside the C headers.
#include <dlpackgen/all.hpp>

int main() { return DLPACK_MAJOR_VERSION < 1; }
