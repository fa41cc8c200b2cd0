/* Prints how many bytes a tensor of 2 x 3 floats has, by the generated headers. */
#include <dlpackgen/abi_check.h> /* once in a project: another dlpack.h in front is an error */
#include <dlpackgen/rules.h>
#include <stdio.h>

int plain(void);

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
  if (dlpackgen_nbytes(&tensor, 0, &nbytes) != DLPACKGEN_OK) return 1;
  printf("DLPack %d.%d: %d bytes\n", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION, (int)nbytes);
  return plain();
}
