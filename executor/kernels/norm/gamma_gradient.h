#ifndef COOPER_EXECUTOR_KERNELS_NORM_GAMMA_GRADIENT_H_
#define COOPER_EXECUTOR_KERNELS_NORM_GAMMA_GRADIENT_H_

// Computes the gradients of gamma and beta of LayerNorm, GroupNorm and InstanceNorm. Sums use no
// atomics and an order that depends on the shapes alone, so equal inputs give equal bits. For .cu
// files.
//
// layer_norm.cu calls the kernels: GammaGradient for sets whose elements are apart, GammaParts and
// then SumGammaParts for contiguous rows. Sums are computed in the compute type, float for 16-bit
// dtypes.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The inputs of the gradient, on the device. mean and std have one element for each normalized set.
// Not owned. `std` is the root of the variance plus eps, as the forward pass stores it.
template <typename T>
struct BackwardArrays {
  // The gradient of the output, the input, the scale, and the statistics that the forward pass
  // stored.
  const T *ograd, *data, *gamma, *mean, *std;
};

// An element of ograd and of data, converted to the compute type. It is loaded as one value, so
// that ForEachLoaded issues both loads together.
template <typename C>
struct GradientPair {
  C ograd, data;
};

// Computes the gradients for normalized sets whose elements are not contiguous. The sets of `plan`
// are the channels that share one element of gamma; element j of a channel belongs to normalized
// set j. For element k of gamma, with sums over the elements j of its channel:
//
//   gamma_grad[k] = sum of ograd * (data - mean[j]) / std[j]
//   beta_grad[k] = sum of ograd
//
// A gradient that is not requested is null.
template <typename T>
__global__ void __launch_bounds__(kThreadsHolding<ComputeType<T>, 0>, 1)
    GammaGradient(SetPlan plan, BackwardArrays<T> a, T* gamma_grad, bool add_gamma, T* beta_grad,
                  bool add_beta) {
  using C = ComputeType<T>;
  using Pair = GradientPair<C>;
  const SetThread thread(plan);
  thread.ForEachSet([&](int64_t k) {
    C sum = 0, dot = 0;
    const auto load = [&](int64_t i) {
      return Pair{ConvertElement<C>(a.ograd[i]), ConvertElement<C>(a.data[i])};
    };
    thread.ForEachLoaded(k, load, [&](int64_t, int64_t j, const Pair& p) {
      sum += p.ograd;
      dot += p.ograd * (p.data - ConvertElement<C>(a.mean[j])) / ConvertElement<C>(a.std[j]);
    });
    dot = thread.Sum(dot);
    sum = thread.Sum(sum);
    if (k < 0 || !thread.IsFirst()) return;
    if (gamma_grad != nullptr) StoreTo(gamma_grad + k, dot, add_gamma);
    if (beta_grad != nullptr) StoreTo(beta_grad + k, sum, add_beta);
  });
}

// The shape of the blocks of GammaParts: a block computes 32 adjacent columns, one for each lane of
// a warp, of a part of the rows, with kPartRows rows of threads. Rows are split into parts if they
// are normalized separately (LayerNorm over the last axis), so that there are enough blocks.
inline constexpr int kPartColumns = 32, kPartRows = 8;

// Returns the number of parts: enough for about 1024 blocks, with at least 8 rows for each thread.
// The result depends on the shape alone.
inline int64_t RowParts(int64_t rows, int64_t columns) {
  constexpr int64_t kBlocks = 1024, kMinPerThread = 8;
  const int64_t blocks = (columns + kPartColumns - 1) / kPartColumns;
  return std::max<int64_t>(
      1, std::min(kBlocks / std::max<int64_t>(blocks, 1), rows / (kPartRows * kMinPerThread)));
}

// Writes the sums of each part for gamma and for beta to partial (parts, 2, columns). Data is
// (rows, columns); row r has mean[r] and std[r]. Blocks have kPartColumns x kPartRows threads;
// gridDim.y is the number of parts, and gridDim.x covers the columns.
template <typename T>
__global__ void GammaParts(int64_t rows, int64_t columns, BackwardArrays<T> a,
                           ComputeType<T>* partial) {
  using C = ComputeType<T>;
  using Pair = GradientPair<C>;
  constexpr int kLoads = 4;
  __shared__ C dots[kPartRows][kPartColumns], sums[kPartRows][kPartColumns];
  const int64_t column = blockIdx.x * int64_t{kPartColumns} + threadIdx.x;
  const int64_t parts = gridDim.y, part = blockIdx.y;
  const int64_t end = rows * (part + 1) / parts;
  C dot = 0, sum = 0;
  if (column < columns) {
    for (int64_t row = rows * part / parts + threadIdx.y; row < end; row += kLoads * kPartRows) {
      Pair values[kLoads];
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        const int64_t r = row + k * kPartRows;
        if (r >= end) continue;
        const int64_t i = r * columns + column;
        values[k] = {ConvertElement<C>(a.ograd[i]), ConvertElement<C>(a.data[i])};
      }
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        const int64_t r = row + k * kPartRows;
        if (r >= end) continue;
        sum += values[k].ograd;
        dot += values[k].ograd * (values[k].data - ConvertElement<C>(a.mean[r])) /
               ConvertElement<C>(a.std[r]);
      }
    }
  }
  dots[threadIdx.y][threadIdx.x] = dot;
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int k = 1; k < kPartRows; ++k) {
    dot += dots[k][threadIdx.x];
    sum += sums[k][threadIdx.x];
  }
  C* const own = partial + part * 2 * columns;
  own[column] = dot;
  own[columns + column] = sum;
}

// Adds the sums of all parts, in order, to the gradients. Outputs that are not requested are null.
// It runs after GammaParts on the same stream.
template <typename T>
__global__ void SumGammaParts(int64_t parts, int64_t columns, const ComputeType<T>* partial,
                              T* gamma_grad, bool add_gamma, T* beta_grad, bool add_beta) {
  using C = ComputeType<T>;
  for (int64_t i = FirstElement(); i < 2 * columns; i += ElementStep()) {
    const bool is_gamma = i < columns;
    T* const grad = is_gamma ? gamma_grad : beta_grad;
    if (grad == nullptr) continue;
    C sum = 0;
    for (int64_t part = 0; part < parts; ++part) sum += partial[part * 2 * columns + i];
    StoreTo(grad + (is_gamma ? i : i - columns), sum, is_gamma ? add_gamma : add_beta);
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NORM_GAMMA_GRADIENT_H_
