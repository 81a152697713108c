// GPU kernels of FullyConnected and its gradient, through cuBLAS.

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/nn/fully_connected_param.h"

namespace cooper {
namespace {

// Created when the node is bound, which reports a missing library.
struct FullyConnectedState : KernelState {
  Cublas* cublas = nullptr;
};

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  auto state = std::make_unique<FullyConnectedState>();
  COOPER_ASSIGN_OR_RETURN(state->cublas, Cublas::Of(c.context.device_id));
  return Prepared{.state = std::move(state)};
}

Cublas& CublasOf(const KernelContext& c) {
  return *static_cast<const FullyConnectedState*>(c.state)->cublas;
}

// Extents of the product: output (m, n) = data (m, k) * weight (n, k)^T.
struct Extents {
  int64_t m, n, k;
};

Extents ExtentsOf(const ArrayView& output, const ArrayView& weight) {
  const int64_t n = weight.shape[0];  // num_hidden, at least 1
  return {output.size() / n, n, weight.shape[1]};
}

// Stores `row` (n,) in, or adds it to, every row of out (m, n).
template <typename T>
__global__ void WriteRows(int64_t count, int64_t n, const T* row, T* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    StoreTo(out + i, ConvertElement<ComputeType<T>>(row[i % n]), add);
  }
}

constexpr int kColumns = 32;  // per block of SumRows: the width of one memory transaction
constexpr int kLanes = 8;     // each sums every eighth row

// Computes sums (n,) = or += the sum of the rows of x (m, n). The order of the sum is fixed and
// uses no atomics, so equal inputs give equal bits.
template <typename T>
__global__ void SumRows(int64_t m, int64_t n, const T* x, T* sums, bool add) {
  using C = ComputeType<T>;
  __shared__ C partial[kLanes][kColumns];
  const int64_t column = blockIdx.x * static_cast<int64_t>(kColumns) + threadIdx.x;
  C sum = 0;
  if (column < n) {
    for (int64_t row = threadIdx.y; row < m; row += kLanes) {
      sum += ConvertElement<C>(x[row * n + column]);
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= n) return;
  for (int lane = 1; lane < kLanes; ++lane) sum += partial[lane][threadIdx.x];
  StoreTo(sums + column, sum, add);
}

template <typename T>
absl::Status Forward(const KernelContext& c) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  const auto [m, n, k] = ExtentsOf(c.outputs[0], c.inputs[1]);
  T* out = c.outputs[0].as<T>();
  bool add = c.reqs[0] == WriteReq::kAdd;
  if (c.inputs.size() == 3) {
    COOPER_RETURN_IF_ERROR(
        LaunchElements(c, m * n, WriteRows<T>, m * n, n, c.inputs[2].as<T>(), out, add));
    add = true;
  }
  return CublasOf(c).Gemm(StreamOf(c), DTypeOf<T>(), false, true, m, n, k, c.inputs[0].data, k,
                          c.inputs[1].data, k, add, out, n);
}

template <typename T>
absl::Status Backward(const KernelContext& c) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  const T* ograd = c.inputs[0].as<T>();
  const auto [m, n, k] = ExtentsOf(c.inputs[0], c.inputs[2]);
  if (c.reqs[0] != WriteReq::kNull) {
    COOPER_RETURN_IF_ERROR(CublasOf(c).Gemm(StreamOf(c), DTypeOf<T>(), false, false, m, k, n, ograd,
                                            n, c.inputs[2].data, k, c.reqs[0] == WriteReq::kAdd,
                                            c.outputs[0].data, k));
  }
  if (c.reqs[1] != WriteReq::kNull) {
    COOPER_RETURN_IF_ERROR(CublasOf(c).Gemm(StreamOf(c), DTypeOf<T>(), true, false, n, k, m, ograd,
                                            n, c.inputs[1].data, k, c.reqs[1] == WriteReq::kAdd,
                                            c.outputs[1].data, k));
  }
  if (c.outputs.size() < 3 || c.reqs[2] == WriteReq::kNull) return absl::OkStatus();
  return Launch(c, dim3(static_cast<unsigned>((n + kColumns - 1) / kColumns)),
                dim3(kColumns, kLanes), SumRows<T>, m, n, ograd, c.outputs[2].as<T>(),
                c.reqs[2] == WriteReq::kAdd);
}

absl::Status FullyConnectedGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchCudaFloat(c.outputs[0].dtype,
                           [&](auto type) { return Forward<typename decltype(type)::type>(c); });
}

absl::Status FullyConnectedBackwardGpu(const KernelContext& c) {
  return DispatchCudaFloat(c.outputs[0].dtype,
                           [&](auto type) { return Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(FullyConnected, DeviceType::kGpu, kCudaFloats, FullyConnectedGpu, Prepare);
COOPER_REGISTER_KERNEL(_backward_FullyConnected, DeviceType::kGpu, kCudaFloats,
                       FullyConnectedBackwardGpu, Prepare);

}  // namespace
}  // namespace cooper
