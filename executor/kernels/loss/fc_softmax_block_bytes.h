#ifndef COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCK_BYTES_H_
#define COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCK_BYTES_H_

#include <cstdint>

namespace cooper {

// Returns the approximate number of bytes of scores that the GPU kernels of a classifier and its
// loss compute before they consume them. A block of this size stays in the L2 cache of an A100 (40
// MB) or an H100 (50 MB).
//
// Read when a node is bound. Tests may change it while no kernel is being bound. The reference is
// to a static variable, which is read without a lock.
inline int64_t& FcSoftmaxGpuBlockBytes() {
  static int64_t bytes = 32 << 20;
  return bytes;
}

// Returns the least number of classes for which the gradients of the scores and their sums over
// rows are computed in one kernel. A block of 512 threads has 32 classes, and an H100 should get
// two blocks for each multiprocessor. Derived from that count, not measured.
//
// Read in each backward run. Tests may change it while no kernel runs.
inline int64_t& FcSoftmaxGpuManyClasses() {
  static int64_t classes = 8192;
  return classes;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOSS_FC_SOFTMAX_BLOCK_BYTES_H_
