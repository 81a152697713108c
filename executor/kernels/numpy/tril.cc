// Kernels of _npi_tril and of its gradient.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/numpy/tril_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

template <typename T>
void Put(T* to, ComputeType<T> value, bool add) {
  *to = ConvertElement<T>(
      static_cast<ComputeType<T>>(add ? ConvertElement<ComputeType<T>>(*to) + value : value));
}

// Writes or adds each row of a matrix up to its diagonal, then zeros. A vector is every row.
absl::Status TrilCpu(const KernelContext& c) {
  const ArrayView& data = c.inputs[OneInputArrays::kData];
  const ArrayView& out = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || out.size() == 0) return absl::OkStatus();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const int64_t rows = out.shape[out.shape.rank() - 2], columns = out.shape[out.shape.rank() - 1];
  const int64_t k = c.param<TrilParam>().diagonal(rows, columns);
  const int64_t stride = data.shape.rank() == 1 ? 0 : columns;
  DispatchDType(out.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    ParallelForPlain(out.size() / columns, RowGrain(columns), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* from = data.as<T>() + row * stride;
        T* to = out.as<T>() + row * columns;
        const int64_t kept = std::clamp<int64_t>(row % rows + k + 1, 0, columns);
        if (add) {
          for (int64_t j = 0; j < kept; ++j) Put(to + j, ConvertElement<C>(from[j]), add);
        } else {
          std::copy_n(from, kept, to);
          std::fill(to + kept, to + columns, T{});
        }
      }
    });
  });
  return absl::OkStatus();
}

// Sums the columns of the head gradient's triangle, for a vector.
absl::Status VectorGradient(const KernelContext& c) {
  const ArrayView& out = c.outputs[0];
  const int64_t n = out.size(), k = c.param<TrilParam>().diagonal(n, n);
  DispatchDType(out.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using C = ComputeType<T>;
    const T* ograd = c.inputs[OneInputGradientArrays::kOgrad].as<T>();
    ParallelForPlain(n, RowGrain(n), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        C sum = 0;
        for (int64_t row = 0; row < n; ++row) {
          if (j <= row + k) sum = static_cast<C>(sum + ConvertElement<C>(ograd[row * n + j]));
        }
        Put(out.as<T>() + j, sum, c.reqs[0] == WriteReq::kAdd);
      }
    });
  });
  return absl::OkStatus();
}

absl::Status TrilBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return c.outputs[0].shape.rank() == 1 ? VectorGradient(c) : TrilCpu(c);
}

COOPER_REGISTER_KERNEL(_npi_tril, DeviceType::kCpu, kAnyDType, TrilCpu);
COOPER_REGISTER_KERNEL(_backward_npi_tril, DeviceType::kCpu, kAnyDType, TrilBackwardCpu);

}  // namespace
}  // namespace cooper
