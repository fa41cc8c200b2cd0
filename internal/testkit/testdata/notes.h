/* What a stand-in for a driver writes down, and the errors that it is told to give. Part of
 * its C file, which may put OUT before what a client calls, and NOTES_FIRST into each note;
 * with QUIET nothing is written down. */
#ifndef NOTES_H
#define NOTES_H

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef OUT
#define OUT
#endif
#ifndef NOTES_FIRST
#define NOTES_FIRST(name)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char notes[1 << 16];
static size_t noted;
static struct {
  char name[40];
  unsigned code;
  int after;
} injected[8];

/* Writes a call down, and gives the error that it is to fail with, or 0. */
static unsigned note(const char* name, const char* format, ...) {
  unsigned code = 0;
  NOTES_FIRST(name);
#ifndef QUIET
  va_list values;
  pthread_mutex_lock(&lock);
  if (noted < sizeof notes - 256) {
    noted += (size_t)snprintf(notes + noted, 64, "%s(", name);
    va_start(values, format);
    noted += (size_t)vsnprintf(notes + noted, 128, format, values);
    va_end(values);
    noted += (size_t)snprintf(notes + noted, 8, ") ");
  }
  for (int i = 0; i < 8; i++)
    if (!strcmp(injected[i].name, name) && injected[i].after-- <= 0) code = injected[i].code;
  pthread_mutex_unlock(&lock);
#else
  (void)name, (void)format;
#endif
  return code;
}

OUT void standin_take(char* out, size_t room) {
  pthread_mutex_lock(&lock);
  snprintf(out, room, "%s", notes);
  noted = 0, notes[0] = 0;
  pthread_mutex_unlock(&lock);
}

OUT void standin_inject(const char* name, unsigned code, int after) {
  for (int i = 0; i < 8; i++) {
    if (injected[i].name[0] && strcmp(injected[i].name, name)) continue;
    snprintf(injected[i].name, sizeof injected[i].name, "%s", code ? name : "");
    injected[i].code = code, injected[i].after = after;
    return;
  }
}

#endif /* NOTES_H */
