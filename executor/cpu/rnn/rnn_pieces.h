#ifndef COOPER_EXECUTOR_CPU_RNN_RNN_PIECES_H_
#define COOPER_EXECUTOR_CPU_RNN_RNN_PIECES_H_

// Small loops over matrices that RNN's kernels are made of.

#include <algorithm>
#include <cstdint>

#include "executor/kernel.h"

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

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_RNN_RNN_PIECES_H_
