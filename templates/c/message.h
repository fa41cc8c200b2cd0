/**
 * \file message.h
 * Reports wrong arguments: a status, which determines the exception of a host, and a message in a
 * buffer of the caller. The functions allocate no memory and keep no state. They are not optimized
 * for speed. C11 and C++17.
 */
#ifndef DLPACKGEN_MESSAGE_H_
#define DLPACKGEN_MESSAGE_H_

#include <dlpackgen/parameter.h>
#include <dlpackgen/tensor.h>
#include <dlpackgen/texts.h>

/* The value of a macro as text. */
#define DLPACKGEN_QUOTE_(text) #text
#define DLPACKGEN_QUOTE(macro) DLPACKGEN_QUOTE_(macro)

/**
 * The exceptions that a host raises for a status, by their Python names. Hosts map this list to
 * their own classes. Only the checks of scalars add a status to it: DLPACKGEN_STATUS_OVERFLOW.
 */
#define DLPACKGEN_STATUSES(STATUS)       \
  STATUS(TYPE_ERROR, TypeError, 1)       \
  STATUS(VALUE_ERROR, ValueError, 2)     \
  STATUS(BUFFER_ERROR, BufferError, 3)   \
  STATUS(SYSTEM_ERROR, SystemError, 4)   \
  STATUS(RUNTIME_ERROR, RuntimeError, 5) \
  STATUS(INDEX_ERROR, IndexError, 6)     \
  STATUS(MEMORY_ERROR, MemoryError, 7)   \
  STATUS(NOT_IMPLEMENTED_ERROR, NotImplementedError, 8)

/** The result of a check. The numbers never change their meaning. */
enum dlpackgen_status {
  DLPACKGEN_STATUS_OK = 0,
#define DLPACKGEN_STATUS(name, exception, number) DLPACKGEN_STATUS_##name = number,
  DLPACKGEN_STATUSES(DLPACKGEN_STATUS)
#undef DLPACKGEN_STATUS
};

/** An argument, as messages name it. */
struct dlpackgen_site {
  const char *function, *argument;
  int number; /**< counted from 0 */
};

/**
 * A text in a buffer. If the buffer is full, the text is truncated between two UTF-8 characters. It
 * is terminated by NUL unless the size is 0.
 */
struct dlpackgen_message {
  char* text;
  size_t size;   /**< of the buffer; 0: nothing is written, and text may be NULL */
  size_t length; /**< of the whole text: if length >= size, it was truncated */
  /** The name of the argument that the text is about; NULL for no or several arguments. */
  const char* argument;
  int64_t item; /**< the item of a list that the next text is about, from 1; 0: none */
};

/** Creates an empty message in a buffer. */
DLPACKGEN_FAST struct dlpackgen_message dlpackgen_message_in(char* text, size_t size) {
  struct dlpackgen_message made;
  made.text = text;
  made.size = size;
  made.length = 0;
  made.argument = NULL;
  made.item = 0;
  if (size) text[0] = 0;
  return made;
}

/* Truncates a text that exceeds its buffer, at the first byte of a character. */
static inline void dlpackgen_message_cut(struct dlpackgen_message* message) {
  size_t end = message->size - 1;
  while (end > 0 && ((unsigned char)message->text[end] & 0xc0) == 0x80) end--;
  message->text[end] = 0;
}

/** Adds a text. */
DLPACKGEN_SLOW static void dlpackgen_put(struct dlpackgen_message* message, const char* text) {
  const size_t before = message->length, size = message->size;
  char* const buffer = message->text;
  size_t length = before;
  for (; *text; text++, length++)
    if (length < size) buffer[length] = *text;
  message->length = length;
  if (length < size) buffer[length] = 0;
  else if (before < size) dlpackgen_message_cut(message);
}

/* Adds a number in a base of 10 or 16. */
static inline void dlpackgen_put_digits(struct dlpackgen_message* message, uint64_t number, unsigned base) {
  char digits[24];
  char* first = digits + sizeof digits - 1;
  *first = 0;
  do *--first = "0123456789abcdef"[number % base];
  while (number /= base);
  dlpackgen_put(message, first);
}

/** Adds an integer. */
DLPACKGEN_SLOW static void dlpackgen_put_integer(struct dlpackgen_message* message, int64_t number) {
  if (number < 0) dlpackgen_put(message, "-");
  dlpackgen_put_digits(message, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10);
}

/** Adds an address, "0x7f12". */
DLPACKGEN_SLOW static void dlpackgen_put_address(struct dlpackgen_message* message, uintptr_t address) {
  dlpackgen_put(message, "0x");
  dlpackgen_put_digits(message, address, 16);
}

/** Adds the separator before the i-th of several alternatives: "", ", " or " or ". */
static inline void dlpackgen_put_separator(struct dlpackgen_message* message, int i, int count) {
  dlpackgen_put(message, i == 0 ? "" : i == count - 1 ? " or " : ", ");
}

/** Adds "3rd". */
DLPACKGEN_SLOW static void dlpackgen_put_ordinal(struct dlpackgen_message* message, int number) {
  static const char* const endings[] = {"th", "st", "nd", "rd"};
  const int last = number % 10, teen = number / 10 % 10 == 1;
  dlpackgen_put_integer(message, number);
  dlpackgen_put(message, endings[teen || last > 3 ? 0 : last]);
}

/** Adds "argument 'b' (2nd)". */
DLPACKGEN_SLOW static void dlpackgen_put_argument(struct dlpackgen_message* message,
                                                  const struct dlpackgen_site* site) {
  dlpackgen_put(message, "argument '");
  dlpackgen_put(message, site->argument);
  dlpackgen_put(message, "' (");
  dlpackgen_put_ordinal(message, site->number + 1);
  dlpackgen_put(message, ")");
}

/**
 * Adds the beginning of a message about an argument: "f(): argument 'b' (2nd): ", followed by "item
 * 0: " for an item of a list.
 */
DLPACKGEN_SLOW static void dlpackgen_put_site(struct dlpackgen_message* message, const struct dlpackgen_site* site) {
  message->argument = site->argument;
  dlpackgen_put(message, site->function);
  dlpackgen_put(message, "(): ");
  dlpackgen_put_argument(message, site);
  dlpackgen_put(message, ": ");
  if (message->item == 0) return;
  dlpackgen_put(message, "item ");
  dlpackgen_put_integer(message, message->item - 1);
  dlpackgen_put(message, ": ");
}

/* Adds the description of a dtype without a name. */
static inline void dlpackgen_put_unnamed(struct dlpackgen_message* message, uint32_t dtype) {
  const char* const code = dlpackgen_type_code_name((uint8_t)(dtype & 0xff));
  dlpackgen_put(message, code ? code : "an unknown code");
  dlpackgen_put(message, " of ");
  dlpackgen_put_integer(message, dtype >> 8 & 0xff);
  dlpackgen_put(message, " bits and ");
  dlpackgen_put_integer(message, dtype >> 16);
  dlpackgen_put(message, " lanes");
}

/** Adds a dtype, "float32x4". */
DLPACKGEN_SLOW static void dlpackgen_put_dtype(struct dlpackgen_message* message, uint32_t dtype) {
  const char* const name = dlpackgen_dtype_name((dtype & 0xffff) | UINT32_C(1) << 16);
  if (!name) {
    dlpackgen_put_unnamed(message, dtype);
    return;
  }
  dlpackgen_put(message, name);
  if (dtype >> 16 == 1) return;
  dlpackgen_put(message, "x");
  dlpackgen_put_integer(message, dtype >> 16);
}

/** Adds a device, "cuda:0". */
DLPACKGEN_SLOW static void dlpackgen_put_device(struct dlpackgen_message* message, DLDevice device) {
  const char* const name = dlpackgen_device_name((int32_t)device.device_type);
  dlpackgen_put(message, name ? name : "device ");
  if (!name) dlpackgen_put_integer(message, (int32_t)device.device_type);
  dlpackgen_put(message, ":");
  dlpackgen_put_integer(message, device.device_id);
}

/** Adds numbers in the form of a Python tuple: "(2, 3)", "(2,)" or "()". */
DLPACKGEN_SLOW static void dlpackgen_put_tuple(struct dlpackgen_message* message, const int64_t* numbers,
                                               int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    dlpackgen_put(message, i ? ", " : "(");
    dlpackgen_put_integer(message, numbers[i]);
  }
  dlpackgen_put(message, count == 0 ? "()" : count == 1 ? ",)" : ")");
}

/** Adds the strides and the shape of a tensor: "strides (1, 2) for shape (2, 3)". */
DLPACKGEN_SLOW static void dlpackgen_put_layout(struct dlpackgen_message* message, const DLTensor* tensor) {
  dlpackgen_put(message, "strides ");
  if (tensor->strides) dlpackgen_put_tuple(message, tensor->strides, tensor->ndim);
  else dlpackgen_put(message, "NULL");
  dlpackgen_put(message, " for shape ");
  dlpackgen_put_tuple(message, tensor->shape, tensor->ndim);
}

#endif /* DLPACKGEN_MESSAGE_H_ */
