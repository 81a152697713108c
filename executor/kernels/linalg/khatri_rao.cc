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
        T product[kBlock];
        std::fill_n(product, n, T{1});
        int64_t rest = row;  // mixed radix: its digits are the inputs' rows, last one first
        for (size_t i = c.inputs.size(); i-- > 0;) {
          const int64_t digits = c.inputs[i].shape[0];
          const T* const factor = c.inputs[i].as<T>() + rest % digits * columns + first;
          for (int64_t j = 0; j < n; ++j) product[j] *= factor[j];
          rest /= digits;
        }
        if (add) {
          for (int64_t j = 0; j < n; ++j) out[first + j] += product[j];
        } else {
          std::copy_n(product, n, out + first);
        }
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
