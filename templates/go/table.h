
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
  int32_t offset;  /* bytes into a py_object to the address of ours; 0: it is ours */
  uintptr_t raise; /* SetError for what has none, or 0 */
};

/* Makes table number i, from 1 to dlp_00000000_TABLES, once. It lives as long as
 * the process. */
dlp_00000000_LOCAL const DLPackExchangeAPI* dlp_00000000_table_new(int i, struct dlp_00000000_plan plan,
                                                                   const DLPackExchangeAPI* given);

/* Returns the table that has the defaults alone. */
dlp_00000000_LOCAL const DLPackExchangeAPI* dlp_00000000_table_plain(void);

/* The hooks, in Go. A failure is REJECTED, with a kind and a message. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_allocate(int table, DLTensor* prototype);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_managed(int table, uintptr_t object);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_wrap(int table, DLManagedTensorVersioned* tensor);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_borrow(int table, uintptr_t object, DLTensor* out);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_stream(int table, DLDevice device);

#endif
