#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_WORKSPACE_PARTS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_WORKSPACE_PARTS_H_

// The layout of a kernel's workspace, stated once for Prepare and for the run. For kernels with
// several scratch arrays: LU and other factorizations, batched triangular solves.

#include <cstdint>

namespace cooper {

// Cuts a kernel's workspace into arrays. A kernel uses it twice with equal calls: without a
// workspace when it is prepared, to get the size, and with it when it runs. It does not own the
// memory, which may be a host or device pointer. Not thread-safe.
class WorkspaceParts {
 public:
  explicit WorkspaceParts(void* workspace = nullptr) : begin_(static_cast<char*>(workspace)) {}

  // Returns `count` elements at a multiple of 256 bytes from the workspace's begin; null without a
  // workspace. cudaMalloc aligns to 256 bytes too. The elements are not initialised. `count` may be
  // 0; the next array then begins at the same address.
  template <typename T>
  T* Take(int64_t count) {
    const int64_t at = bytes_;
    constexpr int64_t kAlignment = 256;
    const auto size = static_cast<int64_t>(sizeof(T));
    bytes_ += (count * size + kAlignment - 1) / kAlignment * kAlignment;
    return begin_ == nullptr ? nullptr : reinterpret_cast<T*>(begin_ + at);
  }

  // The workspace bytes of all calls of Take so far: Prepared::workspace_bytes after the last one.
  int64_t bytes() const { return bytes_; }

 private:
  char* const begin_;
  int64_t bytes_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_WORKSPACE_PARTS_H_
