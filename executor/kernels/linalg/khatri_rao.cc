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

template <typename T>
void KhatriRao(const KernelContext& c) {
  const int64_t rows = c.outputs[0].shape[0], columns = c.outputs[0].shape[1];
  const bool add = c.reqs[0] == WriteReq::kAdd;
  constexpr int64_t kBlock = 256;
  ParallelFor(rows, RowGrain(columns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T* const out = c.outputs[0].as<T>() + row * columns;
      for (int64_t first = 0; first < columns; first += kBlock) {
        const int64_t n = std::min(kBlock, columns - first);
        int64_t rest = row;  // mixed radix: its digits are the inputs' rows, last one first
        const auto next_factor = [&](const ArrayView& input) {
          const int64_t digits = input.shape[0];
          const T* const factor = input.as<T>() + rest % digits * columns + first;
          rest /= digits;
          return factor;
        };
        const T* product = next_factor(c.inputs.back());
        T products[kBlock];
        for (size_t i = c.inputs.size() - 1; i-- > 1;) {
          const T* const factor = next_factor(c.inputs[i]);
          for (int64_t j = 0; j < n; ++j) products[j] = product[j] * factor[j];
          product = products;
        }
        StoreProduct(n, product, c.inputs.size() > 1 ? next_factor(c.inputs[0]) : nullptr, add,
                     out + first);
      }
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
