
/* The tables, which are the only symbols for other files. Part of the backend's file. */
#ifndef DLPACKGEN_USM_TABLE_H_
#define DLPACKGEN_USM_TABLE_H_

#include "usm_copy.h"

#define USM_TABLE(info, copies)   \
  {sizeof(dlpackgen_backend),     \
   DLPACKGEN_BACKEND_ABI_VERSION, \
   BACKEND_device,                \
   BACKEND_NAME,                  \
   usm_probe,                     \
   usm_device_count,              \
   info,                          \
   usm_alloc,                     \
   usm_free,                      \
   usm_current_stream,            \
   usm_stream_from_dlpack,        \
   usm_stream_wait,               \
   usm_keep_until,                \
   copies,                        \
   usm_stream_synchronize}

static const dlpackgen_backend usm_device_only = USM_TABLE(usm_pointer_attributes, usm_copy);
static const dlpackgen_backend usm_all_kinds = USM_TABLE(usm_pointer_attributes_all, usm_copy_all);

const dlpackgen_backend* BACKEND_ENTRY(void) { return &usm_device_only; }

const dlpackgen_usm_table* DLPACKGEN_USM_ENTRY(void) {
  static const dlpackgen_usm_table table = {
      sizeof(dlpackgen_usm_table), DLPACKGEN_USM_ABI_VERSION, USM_HANDLES, &usm_device_only, &usm_all_kinds, usm_id_of,
      usm_set_device_ids,          usm_check_tensor,
  };
  return &table;
}

#endif /* DLPACKGEN_USM_TABLE_H_ */
