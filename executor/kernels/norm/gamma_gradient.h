#ifndef COOPER_EXECUTOR_KERNELS_NORM_GAMMA_GRADIENT_H_
#define COOPER_EXECUTOR_KERNELS_NORM_GAMMA_GRADIENT_H_

// The gradients of gamma and beta of LayerNorm, GroupNorm and InstanceNorm: for .cu files. Sums are
// made without atomics, in an order that depends on the shapes alone: equal input gives equal bits.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "ndarray/base/dtype.h"

namespace cooper {

template <typename T>
struct BackwardArrays {
  const T *ograd, *data, *gamma, *mean, *std;
};

template <typename C>
struct GradientPair {
  C ograd, data;
};

// For normalized sets whose elements do not follow each other: the sets of `plan` are the channels
// that one element of gamma stands for, and place j of a channel is in the normalized set j.
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

// Where each row is normalized on its own (LayerNorm's last axis), rows are cut into parts, so that
// there are enough blocks; each has 32 columns, next to each other for a warp, of a part.
inline constexpr int kPartColumns = 32, kPartRows = 8;

inline int64_t RowParts(int64_t rows, int64_t columns) {
  constexpr int64_t kBlocks = 1024, kLeastPerThread = 8;
  const int64_t blocks = (columns + kPartColumns - 1) / kPartColumns;
  return std::max<int64_t>(
      1, std::min(kBlocks / std::max<int64_t>(blocks, 1), rows / (kPartRows * kLeastPerThread)));
}

// The sums of a part for gamma and for beta: partial is (parts, 2, columns).
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

// Outputs that are not wanted are null.
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
