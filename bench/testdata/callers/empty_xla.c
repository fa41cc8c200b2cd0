/* A handler that reads nothing: the rest of a step is the time of XLA itself. */
#include "xla/ffi/api/c_api.h"

XLA_FFI_Error* empty(XLA_FFI_CallFrame* frame);

XLA_FFI_Error* empty(XLA_FFI_CallFrame* frame) {
  XLA_FFI_Extension_Base* const extension = frame->extension_start;
  if (!extension || extension->type != XLA_FFI_Extension_Metadata) return 0;
  XLA_FFI_Metadata* const metadata = ((XLA_FFI_Metadata_Extension*)extension)->metadata;
  metadata->api_version.major_version = XLA_FFI_API_MAJOR;
  metadata->api_version.minor_version = XLA_FFI_API_MINOR;
  return 0;
}
