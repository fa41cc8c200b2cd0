/**
 * \file object.hpp
 * An at::Tensor out of any object of Python that offers DLPack: by the exchange
 * table of its type, else by the capsule of __dlpack__. Every function here wants
 * the GIL.
 */
#ifndef DLPACKGEN_V0_0_ATEN_OBJECT_HPP_
#define DLPACKGEN_V0_0_ATEN_OBJECT_HPP_

#include "offered.hpp"
#include "table.hpp"

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace aten DLPACKGEN_ATEN_HIDDEN {
/**
 * Takes the tensor out of a capsule that nobody has taken it from, of either name.
 *
 * \throws as take(), or python_error for what is no such capsule.
 */
inline at::Tensor from_capsule(PyObject* capsule, ReadOnly read_only = ReadOnly::refuse) {
  return detail::from_capsule<detail::Aten>(capsule, read_only);
}

/**
 * A tensor over the memory of an object of any library. A torch.Tensor, also one
 * of a derived type, gives an alias of itself, which keeps its conjugate and
 * negative bits.
 *
 * \throws as take(), or python_error for what its library raises.
 */
inline at::Tensor from_object(PyObject* object, ReadOnly read_only = ReadOnly::refuse) {
  if (THPVariable_Check(object)) return THPVariable_Unpack(object).detach();
  return detail::from_offer<detail::Aten>(object, read_only);
}

}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_OBJECT_HPP_
