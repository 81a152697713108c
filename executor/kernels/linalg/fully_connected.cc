// Kernels of FullyConnected and its gradient, through Gemm.

#include <algorithm>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/reducers/column_sums.h"
#include "executor/program/kernel.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/fully_connected_param.h"

namespace cooper {
namespace {

// Whether the weight is (n, k), as in FullyConnected, or (k, n).
enum class Weight { kOfOutputs, kTransposed };

// Extents of the product: output (m, n) = data (m, k) * weight (n, k)^T.
struct Extents {
  int64_t m, n, k;
};

// Takes m from the output because data without features has no elements.
Extents ExtentsOf(const ArrayView& output, const ArrayView& weight,
                  Weight form = Weight::kOfOutputs) {
  const bool transposed = form == Weight::kTransposed;
  const int64_t n = weight.shape[transposed ? 1 : 0];  // num_hidden, at least 1
  const int64_t k = weight.shape[transposed ? 0 : 1];
  return {output.size() / n, n, k};
}

template <typename T>
void Forward(const KernelContext& c, Weight form) {
  using enum FullyConnectedArrays::Input;
  const auto [m, n, k] = ExtentsOf(c.outputs[0], c.inputs[kWeight], form);
  T* out = c.outputs[0].as<T>();
  T beta = c.reqs[0] == WriteReq::kAdd ? T{1} : T{0};
  if (c.inputs.size() == 3) {
    // Stores the bias in every row first and adds the product to it, which saves a pass over the
    // output.
    const T* bias = c.inputs[kBias].as<T>();
    ParallelFor(m, RowGrain(n), [&, n = n](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* row = out + i * n;
        if (beta == T{0}) {
          std::copy_n(bias, n, row);
        } else {
          for (int64_t j = 0; j < n; ++j) row[j] += bias[j];
        }
      }
    });
    beta = T{1};
  }
  const bool transposed = form == Weight::kTransposed;
  Gemm(false, !transposed, m, n, k, T{1}, c.inputs[kData].as<T>(), k, c.inputs[kWeight].as<T>(),
       transposed ? n : k, beta, out, n);
}

template <typename T>
T BetaOf(WriteReq req) {
  return req == WriteReq::kAdd ? T{1} : T{0};
}

template <typename T>
void Backward(const KernelContext& c) {
  using enum FullyConnectedGradientArrays::Input;
  using enum FullyConnectedGradientArrays::Output;
  const T* ograd = c.inputs[kOgrad].as<T>();
  const auto [m, n, k] = ExtentsOf(c.inputs[kOgrad], c.inputs[kWeight]);
  if (c.reqs[0] != WriteReq::kNull) {
    Gemm(false, false, m, k, n, T{1}, ograd, n, c.inputs[kWeight].as<T>(), k, BetaOf<T>(c.reqs[0]),
         c.outputs[0].as<T>(), k);
  }
  if (c.reqs[kWeightGrad] != WriteReq::kNull) {
    Gemm(true, false, n, k, m, T{1}, ograd, n, c.inputs[kData].as<T>(), k,
         BetaOf<T>(c.reqs[kWeightGrad]), c.outputs[kWeightGrad].as<T>(), k);
  }
  if (c.outputs.size() == 3 && c.reqs[kBiasGrad] != WriteReq::kNull) {
    SumColumns(ograd, n, m, n, c.reqs[kBiasGrad] == WriteReq::kAdd, c.outputs[kBiasGrad].as<T>());
  }
}

template <Weight kForm>
absl::Status FullyConnectedCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c, kForm); });
}

absl::Status FullyConnectedBackwardCpu(const KernelContext& c) {
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(FullyConnected, DeviceType::kCpu, kFloat32Or64,
                       FullyConnectedCpu<Weight::kOfOutputs>);
COOPER_REGISTER_KERNEL(_fully_connected_transposed, DeviceType::kCpu, kFloat32Or64,
                       FullyConnectedCpu<Weight::kTransposed>);
COOPER_REGISTER_KERNEL(_backward_FullyConnected, DeviceType::kCpu, kFloat32Or64,
                       FullyConnectedBackwardCpu);

}  // namespace
}  // namespace cooper
