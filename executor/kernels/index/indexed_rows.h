#ifndef COOPER_EXECUTOR_KERNELS_INDEX_INDEXED_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_INDEXED_ROWS_H_

// Gathers rows of an array by an array of indices, and adds to such rows, for take, Embedding,
// boolean_mask and their gradients on the CPU. sorted_rows.h and move_rows.h are for the GPU.
// Indices may have any dtype (index_reader.h).

#include <algorithm>
#include <cstdint>

#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/index/take_param.h"

namespace cooper {

// Computes out = or += in, for `size` elements, which do not overlap. A sum is computed in the
// compute type and rounded to T; integers wrap around. `req` is not kNull.
template <typename T>
void MoveRow(int64_t size, const T* in, WriteReq req, T* out) {
  if (req == WriteReq::kWrite) {
    std::copy_n(in, size, out);
    return;
  }
  using C = ComputeType<T>;
  for (int64_t i = 0; i < size; ++i) {
    out[i] = ConvertElement<T>(WrapAdd(static_cast<C>(out[i]), static_cast<C>(in[i])));
  }
}

// Computes out (outer, indices, inner) = or += data (outer, n, inner)[:, indices, :]. `data` and
// `out` have one dtype, indices any. `mode` places indices out of range. `req` is not kNull. Uses
// several threads.
void CopyIndexedRows(const ArrayView& data, int axis, const ArrayView& indices, IndexMode mode,
                     WriteReq req, const ArrayView& out);

// Computes the gradient of CopyIndexedRows with respect to data: grad (outer, n, inner) = or += the
// sums of the rows of ograd (outer, indices, inner) by their indices. Rows with equal indices are
// added in order, for any number of threads, because threads share the columns: an `inner` of less
// than 32 is summed by one thread. 16-bit floats are rounded after each addition. `req` is not
// kNull.
void AddIndexedRows(const ArrayView& ograd, const ArrayView& indices, IndexMode mode, WriteReq req,
                    int axis, const ArrayView& grad);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_INDEXED_ROWS_H_
