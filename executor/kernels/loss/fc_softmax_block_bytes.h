#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCK_BYTES_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCK_BYTES_H_

#include <cstdint>

namespace cooper {

// About how many bytes of scores the GPU kernels of a classifier and its loss make before they use
// them up: what is in the second-level cache of an A100 (40 MB) or an H100 (50 MB) need not be read
// from memory. Tests change it while no kernel is being bound.
inline int64_t& FcSoftmaxGpuBlockBytes() {
  static int64_t bytes = 32 << 20;
  return bytes;
}

// From how many classes on the sums of the gradients of scores over rows are made with these: a
// block of 512 threads has 32 classes, and there are to be two for each multiprocessor of an H100.
// Chosen by that count, not by a measurement. Tests change it likewise.
inline int64_t& FcSoftmaxGpuManyClasses() {
  static int64_t classes = 8192;
  return classes;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCK_BYTES_H_
