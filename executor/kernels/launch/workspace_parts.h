#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_WORKSPACE_PARTS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_WORKSPACE_PARTS_H_

#include <cstdint>

namespace cooper {

// Cuts a kernel's workspace into arrays. A kernel uses it twice with equal calls: without a
// workspace when it is prepared, to get the size, and with it when it runs.
class WorkspaceParts {
 public:
  explicit WorkspaceParts(void* workspace = nullptr) : begin_(static_cast<char*>(workspace)) {}

  // Returns `count` elements at a multiple of 256 bytes from the workspace's begin; null without a
  // workspace.
  template <typename T>
  T* Take(int64_t count) {
    const int64_t at = bytes_;
    constexpr int64_t kAlignment = 256;
    const auto size = static_cast<int64_t>(sizeof(T));
    bytes_ += (count * size + kAlignment - 1) / kAlignment * kAlignment;
    return begin_ == nullptr ? nullptr : reinterpret_cast<T*>(begin_ + at);
  }

  // The workspace bytes of all calls of Take.
  int64_t bytes() const { return bytes_; }

 private:
  char* const begin_;
  int64_t bytes_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_WORKSPACE_PARTS_H_
