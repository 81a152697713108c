#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_MATRIX_OPS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_MATRIX_OPS_H_

// Elementwise operations, copies and transposes of matrices, shared by the CPU kernels of RNN,
// _rnn_layer and the prepared RNN. rnn_rows_cuda.h is the counterpart for GPUs.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/program/kernel.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Writes or adds in (rows, columns), whose rows are `stride` elements apart, to out. Does nothing
// with kNull. `out` is contiguous. Runs on several threads. T is float or double here and below.
template <typename T>
void StoreRows(WriteReq req, const T* in, int64_t stride, int64_t rows, int64_t columns, T* out);

// Transposes in (rows, columns) into out (columns, rows), whose rows are `out_stride` apart.
// out_stride is at least `rows`; elements beyond the first `rows` of each row are unchanged. The
// arrays must not overlap. Runs on several threads, in tiles that stay in the L1 cache.
template <typename T>
void TransposeInto(const T* in, int64_t rows, int64_t columns, T* out, int64_t out_stride);

// Computes out = in * mask / (1 - p) for n elements. `out` may be `in`. Each mask[i] is 0 or 1, as
// DrawMask writes it; dropped elements are 0 even where `in` is NaN. With p = 1 the scale is 0.
// Runs on several threads.
template <typename T>
void ApplyMask(const T* in, const uint8_t* mask, double p, int64_t n, T* out);

// Computes the bias (slots, hidden) of each slot from `i2h` and `h2h`, both (gates, hidden), so
// that each step adds one bias instead of two:
//
//   all slots but gru's last two: i2h + h2h
//   gru's nh: h2h of gate n,  gru's nx: i2h of gate n
template <typename T>
void SumBiases(RNNMode mode, const RNNDims& dims, const T* i2h, const T* h2h, T* bias) {
  const int64_t n = dims.recurrent * dims.hidden;
  for (int64_t j = 0; j < n; ++j) bias[j] = i2h[j] + h2h[j];
  if (mode != RNNMode::kGru) return;
  std::copy_n(h2h + 2 * dims.hidden, dims.hidden, bias + 2 * dims.hidden);
  std::copy_n(i2h + 2 * dims.hidden, dims.hidden, bias + 3 * dims.hidden);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_MATRIX_OPS_H_
