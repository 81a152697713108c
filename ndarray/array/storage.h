#ifndef COOPER_NDARRAY_ARRAY_STORAGE_H_
#define COOPER_NDARRAY_ARRAY_STORAGE_H_

// A block of memory on one device, shared by the arrays that view it and given back when the last
// of them is gone. Blocks of up to 1 MiB come from a pool that keeps freed blocks for the next
// allocation of the same size class and context, at most 64 MiB for each kind of device. Larger
// blocks go back to the device at once, so that replacing an arena does not double the peak.

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "ndarray/base/context.h"

namespace cooper {

// A block of memory: address, size and context never change, only the bytes in it. Allocation and
// destruction are thread-safe; access to the bytes is not synchronized.
class Storage {
 public:
  // Allocates at least `bytes` uninitialised bytes, aligned to kStorageAlignment. kInvalidArgument
  // for a size below 0 or above 2^62, kResourceExhausted if there is not enough memory, and
  // FindDevice's errors.
  static absl::StatusOr<std::shared_ptr<Storage>> Allocate(int64_t bytes, Context context);

  // Allocates as Allocate does, with all bytes zero. Large blocks take no physical memory until
  // they are touched.
  static absl::StatusOr<std::shared_ptr<Storage>> AllocateZeros(int64_t bytes, Context context);

  // Wraps memory that `owner` keeps alive (or that outlives the storage, if `owner` is null). The
  // storage does not free it, and it never enters the pool.
  static std::shared_ptr<Storage> Wrap(void* data, int64_t bytes, Context context,
                                       std::shared_ptr<void> owner);

  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // Return the address, in device memory if the context is a device; the bytes that were requested,
  // which the block may exceed; and the device.
  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  Context context() const { return context_; }

 private:
  Storage(void* data, int64_t bytes, int64_t block_bytes, Context context,
          std::shared_ptr<void> owner);

  static absl::StatusOr<std::shared_ptr<Storage>> Take(int64_t bytes, Context context, bool zeros);

  void* data_;
  int64_t bytes_;
  int64_t block_bytes_;  // bytes taken from the pool; 0 for wrapped memory
  Context context_;
  std::shared_ptr<void> owner_;
};

// Returns the bytes of freed blocks that the pool of this kind of device keeps. ReleasePool gives
// these blocks back to the device. Both are thread-safe.
int64_t PooledBytes(DeviceType type);
void ReleasePool(DeviceType type);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_STORAGE_H_
