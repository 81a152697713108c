#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_COLUMN_BYTES_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_COLUMN_BYTES_H_

// The memory limit of convolutions that are composed of im2col and matrix products on a GPU
// (convolution_product_cuda.h). A larger limit makes larger products and a larger workspace.

#include <cstdint>

namespace cooper {

// The size limit, in bytes, of the columns that GPU kernels of convolutions compute at a time; one
// image's columns may exceed it. 64 MB by default. Tests change it while no kernel is being bound
// or run: a kernel must run with the limit that it was bound with, because its workspace follows
// from it.
inline int64_t& ConvolutionColumnBytes() {
  static int64_t bytes = 64 << 20;
  return bytes;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_COLUMN_BYTES_H_
