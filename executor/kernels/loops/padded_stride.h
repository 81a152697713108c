#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_PADDED_STRIDE_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_PADDED_STRIDE_H_

// Row strides of matrices that kernels pack or compute for products: the weights of recurrent cells
// and the slices of scores of the fused softmax output.

#include <cstdint>

namespace cooper {

// Returns the row stride, in elements, for a float matrix of `columns` columns that is used in
// products: whole cache lines, but no multiple of 128 floats, which would map the rows of a panel
// to few cache sets. oneDNN's sgemm drops to a third of its speed at strides of 512 and 2048. The
// result is at most columns + 31.
//
//   PaddedStride(200) = 208, PaddedStride(512) = 528
inline int64_t PaddedStride(int64_t columns) {
  const int64_t stride = (columns + 15) / 16 * 16;
  return stride % 128 == 0 ? stride + 16 : stride;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_PADDED_STRIDE_H_
