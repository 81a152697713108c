#ifndef COOPER_EXECUTOR_KERNELS_LINALG_SQUARES_H_
#define COOPER_EXECUTOR_KERNELS_LINALG_SQUARES_H_

// Batches of square matrices, their triangles and diagonals. For .cu files: the kernels of linalg_*
// that use cuBLAS and cuSOLVER (dense_solver.h) and loops of their own. Matrices are the last two
// axes of an array, row-major and contiguous; T is float or double.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "cuda_runtime.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {

// Return the extents of the matrices of an array (..., rows, columns).
inline int64_t MatrixRows(const ArrayView& a) { return a.shape[a.shape.rank() - 2]; }
inline int64_t MatrixColumns(const ArrayView& a) { return a.shape[a.shape.rank() - 1]; }
// Returns the number of matrices in an array (..., rows, columns).
inline int64_t MatrixBatch(const ArrayView& a) { return a.shape.Product(0, a.shape.rank() - 2); }

// The extents of `count` consecutive matrices (n, n).
struct Squares {
  int64_t count, n;

  // Takes an array (..., n, n).
  explicit Squares(const ArrayView& array) : count(MatrixBatch(array)), n(MatrixRows(array)) {}
  Squares(int64_t count, int64_t n) : count(count), n(n) {}
  // The elements of all matrices.
  int64_t size() const { return count * n * n; }
  // Returns the batch of products of three such arrays (Cublas::GemmBatched).
  GemmBatch gemm() const { return {count, n * n, n * n, n * n}; }
};

// The position of element `item` of a batch of matrices (n, n). Costs divisions of 64 bits.
struct InSquare {
  int64_t first, row, column;  // `first`: the offset of its matrix
  __device__ InSquare(int64_t item, int64_t n)
      : first(item / (n * n) * (n * n)), row(item / n % n), column(item % n) {}
};

// The values outside of the triangle that StoreTriangle() writes: 0, or the triangle's own values
// mirrored at the diagonal, which makes a symmetric matrix.
enum class Elsewhere { kZero, kMirrored };

// Computes out = or += scale times the triangles of `matrices`, which include the diagonals. `size`
// is the number of elements of all matrices. The elements of `matrices` outside of the triangles
// are not read.
template <typename T>
__global__ void StoreTriangleKernel(int64_t size, int64_t n, bool lower, Elsewhere elsewhere,
                                    T scale, const T* matrices, T* out, bool add) {
  for (int64_t item = FirstElement(); item < size; item += ElementStep()) {
    const InSquare at(item, n);
    T value = 0;
    if (lower ? at.column <= at.row : at.column >= at.row) {
      value = matrices[item];
    } else if (elsewhere == Elsewhere::kMirrored) {
      value = matrices[at.first + at.column * n + at.row];
    }
    StoreTo(out + item, scale * value, add);
  }
}

// Queues StoreTriangleKernel. `out` may be `matrices` with Elsewhere::kZero only: mirrored elements
// are read by other threads than those that write them. One launch. Errors: those of Launch.
template <typename T>
absl::Status StoreTriangle(const KernelContext& c, const Squares& s, bool lower,
                           Elsewhere elsewhere, double scale, const T* matrices, T* out,
                           bool add = false) {
  return LaunchElements(c, s.size(), StoreTriangleKernel<T>, s.size(), s.n, lower, elsewhere, scale,
                        matrices, out, add);
}

// Sets each of the matrices (n, n) to the identity. `size` is the number of elements of all of
// them.
template <typename T>
__global__ void WriteIdentities(int64_t size, int64_t n, T* out) {
  for (int64_t item = FirstElement(); item < size; item += ElementStep()) {
    const InSquare at(item, n);
    out[item] = at.row == at.column ? T{1} : T{0};
  }
}

// Queues a copy of `count` elements on the device. The arrays do not overlap. Errors: those of
// CUDA.
template <typename T>
absl::Status CopyOnDevice(const KernelContext& c, int64_t count, const T* from, T* to) {
  if (count == 0) return absl::OkStatus();
  return CudaStatus(
      cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToDevice, StreamOf(c)),
      "cudaMemcpyAsync");
}

// Kernels launched by LaunchWarps(count) use one warp per matrix: ForEachWithWarp calls fn(matrix,
// lane) for each. A warp suits sums and products of a diagonal, in an order that depends on n only.
//
//   ForEachWithWarp(count, [&](int64_t i, int lane) {
//     T trace = 0;
//     for (int64_t k = lane; k < n; k += kWarp) trace += a[i * n * n + k * (n + 1)];
//     trace = SumOfWarp(trace);
//     if (lane == 0) out[i] = trace;
//   });
inline constexpr int kWarp = 32;

// Combines the values of a warp's lanes by op, which is associative and commutative; every lane
// gets the result. All 32 lanes call it.
template <typename T, typename Op>
__device__ T ReduceInWarp(T value, Op&& op) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = op(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
  return value;
}
// Return the sum and the product of the values of a warp's lanes.
template <typename T>
__device__ T SumOfWarp(T value) {
  return ReduceInWarp(value, [](T a, T b) { return a + b; });
}
template <typename T>
__device__ T ProductOfWarp(T value) {
  return ReduceInWarp(value, [](T a, T b) { return a * b; });
}

// Calls fn(i, lane) for this warp's i of [0, count), with `lane` from 0 to 31. All lanes of a warp
// get the same i, so fn may use ReduceInWarp.
template <typename Fn>
__device__ void ForEachWithWarp(int64_t count, Fn&& fn) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int64_t i = FirstElement() / kWarp; i < count; i += ElementStep() / kWarp) fn(i, lane);
}
// Launches a kernel with a warp for each of `count` matrices, up to the limit of LaunchElements,
// beyond which warps loop. Does nothing if `count` is 0. Errors: those of Launch.
template <typename... P, typename... A>
absl::Status LaunchWarps(const KernelContext& c, int64_t count, void (*kernel)(P...),
                         A&&... arguments) {
  return LaunchElements(c, count * kWarp, kernel, std::forward<A>(arguments)...);
}

// A Kernel::RunFn without the check of its requests.
using LinalgRunFn = absl::Status (*)(const KernelContext&);

// Runs kFloat or kDouble for a node whose input 0 has a dtype of kFloat32Or64, with the node's
// device as the current one. Does nothing if no output is requested. A Kernel::RunFn:
//
//   {"_linalg_potrf", kGpu, kFloat32Or64, RunFloat32Or64<Potrf<float>, Potrf<double>>,
//   PreparePotrf}
template <LinalgRunFn kFloat, LinalgRunFn kDouble>
absl::Status RunFloat32Or64(const KernelContext& c) {
  const bool asked = std::any_of(c.reqs.begin(), c.reqs.end(),
                                 [](WriteReq req) { return req != WriteReq::kNull; });
  if (!asked) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return c.inputs[0].dtype == DType::kFloat64 ? kDouble(c) : kFloat(c);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LINALG_SQUARES_H_
