#ifndef COOPER_EXECUTOR_KERNELS_INDEX_INDEXED_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_INDEXED_ROWS_H_

// Rows of an array that an array of indices names: copied out, and added to. What take, Embedding
// and their gradients do.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/index/take_param.h"

namespace cooper {

// out = or += in
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

// out (outer, indices, inner) = or += data (outer, n, inner)[:, indices, :]. Arrays of one dtype,
// indices of any.
void CopyIndexedRows(const ArrayView& data, int axis, const ArrayView& indices, IndexMode mode,
                     WriteReq req, const ArrayView& out);

// The gradient of that with respect to data: grad (outer, n, inner) = or += the rows of ograd
// (outer, indices, inner) where their indices say. Rows of one index are added in the order of
// indices, whatever the number of threads.
void AddIndexedRows(const ArrayView& ograd, const ArrayView& indices, IndexMode mode, WriteReq req,
                    int axis, const ArrayView& grad);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_INDEXED_ROWS_H_
