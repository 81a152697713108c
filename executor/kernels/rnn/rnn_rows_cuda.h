#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_ROWS_CUDA_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_ROWS_CUDA_H_

// Operations on matrices in the kernels of RNN and _rnn_layer other than products and cells:
// copies, lengths and masks, forward and backward. For .cu files.
//
// rnn_matrix_ops.h and rnn_rows.h are the counterparts for the CPU. Unlike the CPU, a GPU computes
// the steps of padding too: cells keep the state there.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/launch_rows.h"
#include "executor/program/kernel.h"

namespace cooper {

// Writes or adds in (rows, columns), whose rows are `stride` elements apart, to out. The grid is
// that of LaunchRows. `out` is contiguous.
template <typename T>
__global__ void CopyRows(int64_t rows, int64_t columns, const T* in, int64_t stride, T* out,
                         bool add) {
  ForEachInRows(rows, columns, [&](int64_t row, int64_t column) {
    StoreTo(out + row * columns + column, in[row * stride + column], add);
  });
}

// Queues CopyRows with kWrite or kAdd. Does nothing with kNull. `in` and `out` are device memory.
// Does not wait. Errors: those of LaunchRows.
template <typename T>
absl::Status StoreRows(const KernelContext& c, WriteReq req, const T* in, int64_t stride,
                       int64_t rows, int64_t columns, T* out) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  return LaunchRows(c, rows, columns, CopyRows<T>, rows, columns, in, stride, out,
                    req == WriteReq::kAdd);
}

// Converts the lengths, of any dtype, to int64_t and clamps them to [0, num_steps]. `from` and
// `lengths` have `batch` elements in device memory. Fractions are truncated.
static __global__ void LoadLengths(const void* from, DType dtype, int64_t batch, int64_t num_steps,
                                   int64_t* lengths) {
  for (int64_t i = FirstElement(); i < batch; i += ElementStep()) {
    const int64_t length = LoadElement<int64_t>(from, dtype, i);
    lengths[i] = length < 0 ? 0 : length > num_steps ? num_steps : length;
  }
}

// Computes out = in * scale where the mask is 1, else 0. `out` may be `in`. The grid is one over n
// elements; `scale` is DropoutScale of the probability. A dropped element is 0 even if it is NaN.
template <typename T>
__global__ void ApplyMask(int64_t n, const T* in, const uint8_t* mask, T scale, T* out) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    out[i] = mask[i] != 0 ? in[i] * scale : T{0};
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_ROWS_CUDA_H_
