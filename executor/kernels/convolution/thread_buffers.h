#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_THREAD_BUFFERS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_THREAD_BUFFERS_H_

// Runs the parts of a product on several threads, each of which has a buffer in the workspace.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "executor/kernels/convolution/convolution_geometry.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Calls fn(part, buffer) for each part of [0, parts), on at most `buffers` threads. A thread takes
// the next part when it has finished one, and uses one of the buffers [0, buffers) for all of its
// parts.
template <typename Fn>
void ForEachPartWithBuffer(int64_t parts, int64_t buffers, const Fn& fn) {
  std::atomic<int64_t> next = 0;
  ParallelForRanges(buffers, 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t buffer = begin; buffer < end; ++buffer) {
      for (int64_t part = next++; part < parts; part = next++) fn(part, buffer);
    }
  });
}

// The buffers of a workspace, which is planned before the number of threads is known. At most as
// many threads as there are buffers share a product.
struct ThreadBuffers {
  static constexpr int64_t kMax = 16;  // the most buffers, and so threads, of a product

  int64_t count, elements;  // elements of each buffer

  // Makes buffers for `parts` parts of a product on plain images: up to kMax, but no more than have
  // the elements of the columns of an image and group, or a million, and at least one.
  ThreadBuffers(const ConvolutionProduct& p, int64_t parts, int64_t elements) : elements(elements) {
    constexpr int64_t kBudget = 1 << 20;
    const int64_t budget = std::max(p.WorkspaceElements(), kBudget);
    count = std::min(parts, std::clamp<int64_t>(budget / std::max<int64_t>(1, elements), 1, kMax));
  }
  int64_t workspace_elements() const { return count * elements; }

  // Calls fn(part, buffer) for each part of [0, parts), as ForEachPartWithBuffer does, with the
  // buffer in the workspace.
  template <typename T, typename Fn>
  void ForEach(int64_t parts, T* workspace, const Fn& fn) const {
    ForEachPartWithBuffer(parts, count, [&](int64_t part, int64_t buffer) {
      fn(part, workspace + buffer * elements);
    });
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_THREAD_BUFFERS_H_
