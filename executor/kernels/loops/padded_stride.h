#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_PADDED_STRIDE_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_PADDED_STRIDE_H_

// Row strides for packed copies of weight matrices, for the recurrent cells and the fused softmax
// output.

#include <cstdint>

namespace cooper {

// Returns the row stride, in elements, for a copy of a float matrix of `columns` columns that is
// used in products: whole cache lines of floats, but no multiple of 128, which would map the rows
// of a panel to few cache sets. oneDNN's sgemm drops to a third of its speed at strides of 512 and
// 2048. PaddedStride(200) is 208, PaddedStride(512) is 528. The result is at most columns + 31.
inline int64_t PaddedStride(int64_t columns) {
  const int64_t stride = (columns + 15) / 16 * 16;
  return stride % 128 == 0 ? stride + 16 : stride;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_PADDED_STRIDE_H_
