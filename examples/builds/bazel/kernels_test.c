/* A call of the kernel checks its arguments: floats are scaled, and integers are rejected. */
#include <dlpackgen/message.h>
#include <kernels.h>
#include <string.h>

int main(void) {
  float values[] = {1, 2, 3};
  char text[200] = "";
  int64_t shape[] = {3}, strides[] = {1};
  struct dlpackgen_message message = {.text = text, .size = sizeof text};
  DLTensor x = {
      .data = values, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape, .strides = strides};
  if (dlpackgen_call_kernel_scale(&x, 2, NULL, &message) != 0 || values[2] != 6) return 1;
  x.dtype.code = kDLInt;
  if (dlpackgen_call_kernel_scale(&x, 2, NULL, &message) == 0 || values[2] != 6) return 2;
  return strstr(text, "float32") == NULL;
}
