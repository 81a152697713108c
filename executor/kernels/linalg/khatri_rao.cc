// Kernel of khatri_rao.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Computes out = or += product * factor. A null factor counts as 1.
template <typename T>
void StoreProduct(int64_t n, const T* product, const T* factor, bool add, T* out) {
  if (factor == nullptr) {
    for (int64_t j = 0; j < n; ++j) Store(out + j, product[j], add);
  } else if (add) {
    for (int64_t j = 0; j < n; ++j) out[j] += product[j] * factor[j];
  } else {
    for (int64_t j = 0; j < n; ++j) out[j] = product[j] * factor[j];
  }
}

// Returns columns [first, first + n) of row `row` of the product of all inputs but the last: an
// input's row, or n products in `products`. Null if there is one input.
template <typename T>
const T* LeadingProduct(const KernelContext& c, int64_t row, int64_t first, int64_t n,
                        T* products) {
  const int64_t columns = c.outputs[0].shape[1];
  const T* product = nullptr;
  // `row` is a number of mixed radix, whose digits are the inputs' rows, the last one first.
  for (size_t i = c.inputs.size() - 1; i-- > 0;) {
    const int64_t digits = c.inputs[i].shape[0];
    const T* const factor = c.inputs[i].as<T>() + row % digits * columns + first;
    row /= digits;
    if (product == nullptr) {
      product = factor;
      continue;
    }
    for (int64_t j = 0; j < n; ++j) products[j] = product[j] * factor[j];
    product = products;
  }
  return product;
}

template <typename T>
void KhatriRao(const KernelContext& c) {
  const int64_t rows = c.outputs[0].shape[0], columns = c.outputs[0].shape[1];
  const ArrayView& last = c.inputs.back();
  const int64_t last_rows = last.shape[0];
  const bool add = c.reqs[0] == WriteReq::kAdd;
  constexpr int64_t kBlock = 256;
  ParallelFor(rows, RowGrain(columns), [&](int64_t begin, int64_t end) {
    // Rows that differ in the last input's row alone share the product of the others.
    while (begin < end) {
      const int64_t first_row = begin % last_rows;
      const int64_t count = std::min(end - begin, last_rows - first_row);
      for (int64_t first = 0; first < columns; first += kBlock) {
        const int64_t n = std::min(kBlock, columns - first);
        T products[kBlock];
        const T* const leading = LeadingProduct(c, begin / last_rows, first, n, products);
        for (int64_t k = 0; k < count; ++k) {
          StoreProduct(n, last.as<T>() + (first_row + k) * columns + first, leading, add,
                       c.outputs[0].as<T>() + (begin + k) * columns + first);
        }
      }
      begin += count;
    }
  });
}

absl::Status KhatriRaoCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { KhatriRao<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(khatri_rao, DeviceType::kCpu, kFloat32Or64, KhatriRaoCpu);

}  // namespace
}  // namespace cooper
