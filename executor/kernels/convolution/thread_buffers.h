#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_THREAD_BUFFERS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_THREAD_BUFFERS_H_

// Runs the parts of a product on several threads, each of which has a buffer in the workspace.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "ndarray/threads/parallel.h"

namespace cooper {

// The buffers of a workspace, which is planned before the number of threads is known. At most as
// many threads as there are buffers share a product.
struct ThreadBuffers {
  static constexpr int64_t kMax = 16;  // the most buffers, and so threads, of a product

  int64_t count, elements;  // elements of each buffer

  // Makes buffers for `parts` parts: up to kMax, in at most `budget` elements, but at least one.
  ThreadBuffers(int64_t parts, int64_t elements, int64_t budget)
      : count(
            std::min(parts, std::clamp<int64_t>(budget / std::max<int64_t>(1, elements), 1, kMax))),
        elements(elements) {}
  int64_t workspace_elements() const { return count * elements; }

  // Calls fn(i, buffer) for each i of [0, parts), on several threads. A thread takes the next part
  // when it has finished one.
  template <typename T, typename Fn>
  void ForEach(int64_t parts, T* workspace, const Fn& fn) const {
    std::atomic<int64_t> next = 0;
    ParallelForRanges(count, 1, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        for (int64_t i = next++; i < parts; i = next++) fn(i, workspace + k * elements);
      }
    });
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_THREAD_BUFFERS_H_
