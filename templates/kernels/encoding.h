/* Texts in UTF-8: checks those of callers, and replaces invalid bytes in those of authors. */
#ifndef DLPACKGEN_KERNELS_ENCODING_H_
#define DLPACKGEN_KERNELS_ENCODING_H_

#include <dlpackgen/checker.h>
#include <string.h>

/* Returns the length of the first character of a text in UTF-8; 0 if it is invalid. */
DLPACKGEN_SLOW static size_t dlpackgen_character(const char* text) {
  const unsigned char* const at = (const unsigned char*)text;
  const unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
  const size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 || at[0] > 0xf4 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
  if (length > 1 && (at[1] < low || at[1] > high)) return 0;
  for (size_t i = 2; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return length;
}

/* Checks that a text is present and in UTF-8, which all hosts but Python leave to this check. */
DLPACKGEN_PART int dlpackgen_check_text(const struct dlpackgen_site* at, const char* text,
                                        struct dlpackgen_message* message) {
  size_t i = 0, length = 1;
  if (DLPACKGEN_RARE(!text)) return dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_MISSING);
  while (text[i] && length) {
    length = (unsigned char)text[i] < 0x80 ? 1 : dlpackgen_character(&text[i]);
    i += length;
  }
  if (!DLPACKGEN_RARE(!length)) return DLPACKGEN_STATUS_OK;
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, "expected a string in UTF-8, got byte ");
  dlpackgen_put_address(message, (unsigned char)text[i]);
  dlpackgen_put(message, " at index ");
  dlpackgen_put_integer(message, (int64_t)i);
  return DLPACKGEN_STATUS_VALUE_ERROR;
}

/* Adds a text of the author's, whose invalid bytes are replaced: in most hosts, the exception would
 * be a UnicodeDecodeError without the text. */
DLPACKGEN_SLOW static void dlpackgen_put_foreign(struct dlpackgen_message* message, const char* text) {
  while (*text) {
    char character[5] = "\xef\xbf\xbd"; /* U+FFFD */
    const size_t length = dlpackgen_character(text);
    if (length) memcpy(character, text, length);
    if (length) character[length] = 0;
    dlpackgen_put(message, character);
    text += length ? length : 1;
  }
}

#endif /* DLPACKGEN_KERNELS_ENCODING_H_ */
