/* The generated headers compile, and compute the bytes of a tensor. */
#include <dlpackgen/abi_check.h>
#include <dlpackgen/rules.h>

int main(void) {
  int64_t shape[] = {2, 3}, strides[] = {3, 1}, nbytes = 0;
  DLTensor tensor = {0};
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 2;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  tensor.strides = strides;
  return dlpackgen_nbytes(&tensor, 0, &nbytes) != DLPACKGEN_OK || nbytes != 24;
}
