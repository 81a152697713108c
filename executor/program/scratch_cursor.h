#ifndef COOPER_EXECUTOR_PROGRAM_SCRATCH_CURSOR_H_
#define COOPER_EXECUTOR_PROGRAM_SCRATCH_CURSOR_H_

// Divides the workspace of a kernel into arrays and computes the size that it needs.

#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// Allocates arrays one after the other from scratch memory, in units of 64 bytes. With a null base
// it returns null pointers and only counts bytes(): a kernel's Prepare and its run make the same
// calls of Take, so that the size is right. A plain value for the stack of a kernel; it owns
// nothing. Host and device.
class ScratchCursor {
 public:
  COOPER_HOST_DEVICE explicit ScratchCursor(void* base) : base_(static_cast<char*>(base)) {}

  // Returns memory for `elements` elements of T, aligned like the base up to 64 bytes.
  template <typename T>
  COOPER_HOST_DEVICE T* Take(int64_t elements) {
    T* piece = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + bytes_);
    bytes_ += (elements * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    return piece;
  }
  // Returns the bytes taken since construction.
  COOPER_HOST_DEVICE int64_t bytes() const { return bytes_; }

 private:
  char* base_;
  int64_t bytes_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PROGRAM_SCRATCH_CURSOR_H_
