/* The kernels of the table of mistakes. `times` makes mix() fail: 101 to 105 are statuses. */
#include <kernels.h>

#define DATA(type, x) ((type*)((char*)(x)->data + (x)->byte_offset))

#ifdef AUTHOR_written

int fill(int8_t tiny, const DLTensor* x, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < x->shape[0]; i++) DATA(float, y)[i] = DATA(float, x)[i] * (float)tiny;
  return 0;
}

#else

#define MIX(name, type)                                                                                               \
  int name(const DLTensor* x, const DLTensor* weight, const DLTensor* places, double by, int64_t times, bool also,    \
           const DLTensor* bias, const int64_t* sizes, int64_t nsizes, const char* mode, DLTensor* y, void* stream) { \
    (void)nsizes, (void)stream;                                                                                       \
    const int64_t n = weight->shape[0], last = places->shape[0] * places->shape[1] - 1;                               \
    double more = DATA(int32_t, places)[0] + DATA(int32_t, places)[last] + (also ? 1000 : 0);                         \
    if (sizes) more += (double)(10 * sizes[0] + 100 * sizes[1]);                                                      \
    int64_t size = 1;                                                                                                 \
    for (int32_t d = 0; d < x->ndim; d++) size *= x->shape[d];                                                        \
    for (int64_t i = 0; i < size; i++) {                                                                              \
      double made = DATA(type, x)[i] * DATA(type, weight)[i % n] * (by * (double)times) + more;                       \
      if (bias) made += DATA(type, bias)[i % n];                                                                      \
      DATA(type, y)[i] = (type)(mode[0] == 'm' ? made / 2 : made);                                                    \
    }                                                                                                                 \
    return times > 100 && times < 106 ? (int)times - 100 : 0;                                                         \
  }

MIX(mix_float32, float)
MIX(mix_float64, double)

const char* mix_error(int status) {
  static char text[3100];
  if (status == 4) return "the mixer of the caf\xe9 is stuck";
  if (status != 5) return status == 2 ? "the mixer is stuck" : "";
  for (int i = 0; i < 3000; i++) text[i] = 'x';
  return text;
}

#endif
