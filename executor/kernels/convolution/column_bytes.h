#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_COLUMN_BYTES_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_COLUMN_BYTES_H_

#include <cstdint>

namespace cooper {

// How many bytes of columns the GPU kernels of convolutions make at a time, if an image has no
// more. Tests change it while no kernel is being bound or run.
inline int64_t& ConvolutionColumnBytes() {
  static int64_t bytes = 64 << 20;
  return bytes;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_COLUMN_BYTES_H_
