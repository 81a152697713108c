#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_LAUNCH_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_LAUNCH_ROWS_H_

// Launches device code that goes over the rows of a matrix. A block handles one row at a time, so
// that no division is needed to find an element's row. For .cu files: the recurrent cells, im2col
// windows and samplers. launch.h is for arrays whose rows do not matter.
//
//   __global__ void AddBias(int64_t rows, int64_t columns, const float* bias, float* x) {
//     ForEachInRows(rows, columns, [=](int64_t row, int64_t column) {
//       x[row * columns + column] += bias[column];
//     });
//   }
//   return LaunchRows(c, rows, columns, AddBias, rows, columns, bias, x);

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"

namespace cooper {

// Launches a kernel that goes over rows from blockIdx.y in steps of gridDim.y, and over each row's
// columns from FirstElement() in steps of ElementStep(). Does nothing if the matrix is empty.
//
// A block has one dimension: whole warps for the columns, at most 256 threads. The grid has one
// block per row and per 256 columns, at most 65535 along each axis, which is CUDA's limit for y.
// Rows that are much shorter than a warp leave most of its threads idle.
//
// Errors: those of Launch.
template <typename... P, typename... A>
absl::Status LaunchRows(const KernelContext& c, int64_t rows, int64_t columns, void (*kernel)(P...),
                        A&&... arguments) {
  constexpr int64_t kWarp = 32, kMaxThreads = 256, kMaxBlocks = 65535;
  if (rows == 0 || columns == 0) return absl::OkStatus();
  const int64_t threads = std::min(kMaxThreads, (columns + kWarp - 1) / kWarp * kWarp);
  const dim3 grid(BlocksFor((columns + threads - 1) / threads, kMaxBlocks),
                  BlocksFor(rows, kMaxBlocks));
  return Launch(c, grid, dim3(static_cast<unsigned>(threads)), kernel,
                std::forward<A>(arguments)...);
}

// Calls fn(row, column) for this thread's elements of a matrix, in a kernel of LaunchRows. The
// calls of one thread are in row-major order. Threads of a block stay in the same row, but may
// differ in the number of their columns, so `fn` must not synchronise the block.
template <typename Fn>
__device__ void ForEachInRows(int64_t rows, int64_t columns, Fn&& fn) {
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    for (int64_t column = FirstElement(); column < columns; column += ElementStep()) {
      fn(row, column);
    }
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_LAUNCH_ROWS_H_
