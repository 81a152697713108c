#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_THREAD_BUFFERS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_THREAD_BUFFERS_H_

// Runs the parts of a product on several threads, each of which has a buffer in the workspace.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/container/fixed_array.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "ndarray/threads/parallel.h"

namespace cooper {

// Calls fn(part, buffer) for each part of [0, parts), on at most `buffers` threads. A thread uses
// one of the buffers [0, buffers) at a time. It first takes its own share of the parts, which is
// the same in each loop, so that their data may be in its cache, and then parts that other threads
// have not begun. Takes O(parts + buffers^2) steps beside fn.
template <typename Fn>
void ForEachPartWithBuffer(int64_t parts, int64_t buffers, const Fn& fn) {
  constexpr int64_t kSharesOnStack = 32;
  const auto share_begin = [=](int64_t k) { return parts * k / buffers; };
  // The next part of the share of each buffer.
  absl::FixedArray<std::atomic<int64_t>, kSharesOnStack> next(buffers);
  for (int64_t k = 0; k < buffers; ++k) {
    next[k].store(share_begin(k), std::memory_order_relaxed);
  }
  ParallelForRanges(buffers, 1, 1, [&](int64_t first, int64_t last) {
    for (int64_t buffer = first; buffer < last; ++buffer) {
      for (int64_t i = 0; i < buffers; ++i) {
        const int64_t owner = (buffer + i) % buffers;
        const int64_t end = share_begin(owner + 1);
        // Reads before it writes, since usually no parts are left.
        while (next[owner].load(std::memory_order_relaxed) < end) {
          const int64_t part = next[owner].fetch_add(1, std::memory_order_relaxed);
          if (part < end) fn(part, buffer);
        }
      }
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
