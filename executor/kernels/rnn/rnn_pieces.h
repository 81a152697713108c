#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_PIECES_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_PIECES_H_

// Small loops over matrices that RNN's kernels are made of.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/program/kernel.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// out (rows, columns) = or += in, whose rows are `stride` elements apart; nothing with kNull.
template <typename T>
void StoreRows(WriteReq req, const T* in, int64_t stride, int64_t rows, int64_t columns, T* out);

// out (columns, rows) with rows `out_stride` apart = in (rows, columns) transposed.
template <typename T>
void TransposeInto(const T* in, int64_t rows, int64_t columns, T* out, int64_t out_stride);

// out = in * mask / (1 - p). In place is allowed.
template <typename T>
void ApplyMask(const T* in, const uint8_t* mask, double p, int64_t n, T* out);

// bias (slots, hidden) = what each slot adds: both biases, but for the two slots of gru's n.
template <typename T>
void SumBiases(RNNMode mode, const RNNDims& dims, const T* i2h, const T* h2h, T* bias) {
  const int64_t n = dims.recurrent * dims.hidden;
  for (int64_t j = 0; j < n; ++j) bias[j] = i2h[j] + h2h[j];
  if (mode != RNNMode::kGru) return;
  std::copy_n(h2h + 2 * dims.hidden, dims.hidden, bias + 2 * dims.hidden);
  std::copy_n(i2h + 2 * dims.hidden, dims.hidden, bias + 3 * dims.hidden);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_PIECES_H_
