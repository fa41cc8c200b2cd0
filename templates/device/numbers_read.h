
/* Converts DLPack's stream numbers by the rules of the backend. Part of the backend's C file. */
#ifndef DLPACKGEN_NUMBERS_READ_H_
#define DLPACKGEN_NUMBERS_READ_H_

#include "numbers_rules.h"

/* Reads a number other than None, and returns whether it is a stream. `handles` is 0 if only the
 * numbers of the rules are streams. */
static int numbers_read(int64_t number, int handles, dlpackgen_stream* stream) {
  const int fits = handles && number >= 0 && (uint64_t)number <= UINTPTR_MAX;
  int rejected = !fits && number != -1;
  stream->flags = number == -1 ? DLPACKGEN_STREAM_NO_SYNC : 0;
  stream->handle = fits ? (void*)(uintptr_t)number : NULL;
  for (size_t i = 0; i < sizeof driver_numbers / sizeof *driver_numbers; i++) {
    if (driver_numbers[i].number != number) continue;
    rejected = driver_numbers[i].rejected;
    stream->handle = (void*)driver_numbers[i].handle;
  }
  return !rejected;
}

#endif /* DLPACKGEN_NUMBERS_READ_H_ */
