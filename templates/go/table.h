
/* The construction of the exchange tables that this package produces. Not part of the package's
 * interface. */
#ifndef dlp_00000000_TABLE_H
#define dlp_00000000_TABLE_H

#include "exchange.h"
#include "object.h"

/* The number of tables besides the default one; their numbers begin with 1. */
enum { dlp_00000000_TABLES = 8 };

/* The parts of a table besides the defaults in C. Nonzero functions of given replace defaults; the
 * bits of hooks, 1 << dlp_00000000_OP_..., select Go. */
struct dlp_00000000_plan {
  uint32_t hooks;
  int32_t offset;  /* offset of our object's address in a py_object; 0: it is our object */
  uintptr_t raise; /* SetError for functions without that parameter, or 0 */
};

/* Creates table number i, from 1 to dlp_00000000_TABLES, once. It exists until the process ends. */
dlp_00000000_LOCAL const DLPackExchangeAPI* dlp_00000000_table_new(int i, struct dlp_00000000_plan plan,
                                                                   const DLPackExchangeAPI* passed);

/* Returns the table with only the defaults. */
dlp_00000000_LOCAL const DLPackExchangeAPI* dlp_00000000_table_plain(void);

/* The hooks, in Go. A failure is REJECTED, with a kind and a message. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_allocate(int table, DLTensor* prototype);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_managed(int table, uintptr_t object);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_wrap(int table, DLManagedTensorVersioned* tensor);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_borrow(int table, uintptr_t object, DLTensor* out);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_stream(int table, DLDevice device);

#endif
