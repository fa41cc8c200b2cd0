// Hostile tensors for the validator of the C++ headers, which must have the same results as C's,
// and accepted ones for the views.
#include "hostile.h"

#include <dlpackgen/all.hpp>

namespace {

using dlpackgen::ErrorCode;
using dlpackgen::TensorView;

// Every element by its indices, which a view of one rank less also returns.
template <class T>
void walk(const TensorView& view, const dlpackgen::ArrayView<T, 2>& a, bool mine) {
  CLAIM(a.size() == view.size());
  for (std::int64_t i = 0; i < a.extent(0) && i < 8; ++i) {
    CLAIM(a[i].size() == a.extent(1) || a.data() == nullptr);
    for (std::int64_t k = 0; k < a.extent(1) && k < 8; ++k) {
      CLAIM(a.at(i, k) == &a[i][k]);
      CLAIM(!mine || *a.at(i, k) == T());
    }
  }
  CLAIM(a.at(a.extent(0), 0) == nullptr && a.at(-1, 0) == nullptr);
}

template <class T>
void typed(const TensorView& view, bool mine) {
  const auto flat = dlpackgen::flat_of<const T>(view);
  if (flat) {
    CLAIM(view.is_contiguous() && flat->size() == static_cast<std::size_t>(view.size()));
    for (std::size_t i = 0; mine && i < flat->size() && i < 64; ++i) CLAIM((*flat)[i] == T());
  }
  const auto two = dlpackgen::array_of<const T, 2>(view);
  CLAIM(!two || view.ndim() == 2);
  if (two) walk(view, *two, mine);
  const auto three = dlpackgen::array_of<const T, 3>(view);
  if (three) CLAIM(three->size() == (three->data() == nullptr ? 0 : view.size()));
  CLAIM(!view.is_read_only() || !view.data_as<T>());
}

void hold(const hostile& h, const TensorView& view) {
  const DLTensor& t = view.raw();
  const hostile_facts f = hostile_learn(&t, view.flags());
  const bool mine = hostile_is_mine(&h, &t, &f) != 0;
  CLAIM(static_cast<unsigned __int128>(view.size()) == f.count);
  const auto reach = dlpackgen::byte_range(t, view.flags());
  CLAIM(reach && static_cast<unsigned __int128>(-reach->low) == f.low &&
        static_cast<unsigned __int128>(reach->high) == f.high);
  CLAIM(view.is_contiguous() == (dlpackgen_is_contiguous(&t) != 0));
  for (std::int32_t d = 0; d < view.ndim(); ++d) CLAIM(f.count == 0 || view.stride(d) == hostile_stride(&t, d));
  hostile_walk(&h, &t, &f);
  typed<float>(view, mine);
  typed<double>(view, mine);
  typed<std::int8_t>(view, mine);
}

// Re-exported tensors have the same properties and memory.
void rebuild(const hostile& h, const TensorView& view) {
  const auto made = dlpackgen::Builder::from_view(view).accept(static_cast<dlpackgen::Accept>(h.options)).build();
  if (!made) return;
  const hostile_facts before = hostile_learn(&view.raw(), view.flags());
  const hostile_facts after = hostile_learn(&made->view().raw(), made->view().flags());
  CLAIM(before.count == after.count && before.low == after.low && before.high == after.high);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  hostile h;
  hostile_make(&h, bytes, size);
  const DLTensor* t = &h.managed.dl_tensor;
  const auto accept = static_cast<dlpackgen::Accept>(h.options);
  const auto view = TensorView::from_raw(t, h.managed.flags, accept);
  CLAIM(static_cast<int>(view.code()) == static_cast<int>(dlpackgen_validate(t, h.managed.flags, h.options)));
  if (view) {
    hold(h, *view);
    rebuild(h, *view);
  }
  hostile_free(&h);
  return 0;
}
