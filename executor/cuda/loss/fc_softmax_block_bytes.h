#ifndef COOPER_EXECUTOR_CUDA_LOSS_FC_SOFTMAX_BLOCK_BYTES_H_
#define COOPER_EXECUTOR_CUDA_LOSS_FC_SOFTMAX_BLOCK_BYTES_H_

#include <cstdint>

namespace cooper {

// About how many bytes of scores the GPU kernels of a classifier and its loss make before they use
// them up: what is in the second-level cache of an A100 (40 MB) or an H100 (50 MB) need not be read
// from memory. Tests change it while no kernel is being bound.
inline int64_t& FcSoftmaxGpuBlockBytes() {
  static int64_t bytes = 32 << 20;
  return bytes;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_LOSS_FC_SOFTMAX_BLOCK_BYTES_H_
