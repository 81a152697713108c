#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_WORKSPACE_PARTS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_WORKSPACE_PARTS_H_

#include <cstdint>

namespace cooper {

// Cuts a kernel's workspace into arrays: once without one, when the kernel is prepared, to learn
// how many bytes it has to have, and in the same order with it when the kernel runs.
class WorkspaceParts {
 public:
  explicit WorkspaceParts(void* workspace = nullptr) : begin_(static_cast<char*>(workspace)) {}

  // `count` elements, from a multiple of 256 bytes after the workspace's begin on.
  template <typename T>
  T* Take(int64_t count) {
    const int64_t at = bytes_;
    constexpr int64_t kAlignment = 256;
    const auto size = static_cast<int64_t>(sizeof(T));
    bytes_ += (count * size + kAlignment - 1) / kAlignment * kAlignment;
    return begin_ == nullptr ? nullptr : reinterpret_cast<T*>(begin_ + at);
  }

  int64_t bytes() const { return bytes_; }

 private:
  char* const begin_;
  int64_t bytes_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_WORKSPACE_PARTS_H_
