#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_COLUMN_BYTES_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_COLUMN_BYTES_H_

#include <cstdint>

namespace cooper {

// The size limit, in bytes, of the columns that GPU kernels of convolutions compute at a time; one
// image's columns may exceed it. Tests change it while no kernel is being bound or run.
inline int64_t& ConvolutionColumnBytes() {
  static int64_t bytes = 64 << 20;
  return bytes;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_COLUMN_BYTES_H_
