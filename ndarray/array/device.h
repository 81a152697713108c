#ifndef COOPER_NDARRAY_ARRAY_DEVICE_H_
#define COOPER_NDARRAY_ARRAY_DEVICE_H_

// The interface through which storage and copies use a kind of device. The CPU is always
// registered; linking ndarray/cuda registers the GPU.

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/context.h"

namespace cooper {

// Every allocation starts at a multiple of this many bytes.
inline constexpr int64_t kStorageAlignment = 64;

// An in-order queue of work on one device: its kernels and copies run one after the other while the
// host continues. On a CPU the work has run when a call returns. Thread-safe; the work that one
// thread enqueues keeps its order. The destructor waits for the work that is still pending.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;

  // Returns the handle with which kernels and libraries enqueue work: a cudaStream_t, or null on a
  // CPU.
  virtual void* handle() const = 0;

  // Makes work that is enqueued later run after the work that `other`, a queue of any device, holds
  // at this call.
  virtual absl::Status WaitFor(DeviceQueue& other) = 0;
  // Enqueues a copy. `dst` is on this queue's device, or one of the two sides is a CPU, as in
  // Device::Copy. The caller may reuse a CPU `src` when the call returns; `dst` is written when the
  // copy has run.
  virtual absl::Status Copy(void* dst, Context dst_context, const void* src, Context src_context,
                            int64_t bytes) = 0;
  // Waits for all enqueued work and returns the first error of a kernel. Some errors of a kernel
  // are found only here.
  virtual absl::Status Synchronize() = 0;
};

// A kind of device. Implementations are thread-safe and live as long as the program.
class Device {
 public:
  virtual ~Device() = default;

  // Returns the number of usable devices of this kind; 0 if there is no driver.
  virtual int Count() const = 0;

  // Allocates `bytes` uninitialised bytes; the caller releases them with Free. kResourceExhausted,
  // naming `bytes`, if the device does not have them.
  virtual absl::StatusOr<void*> Allocate(int device_id, int64_t bytes) = 0;
  // Returns whether a block of `bytes` bytes from Allocate is filled with zeros.
  virtual bool AllocatesZeros(int64_t /*bytes*/) const { return false; }
  // Frees the block once all work that is queued on the device has run. `bytes` is the size that
  // was passed to Allocate.
  virtual void Free(int device_id, void* data, int64_t bytes) = 0;

  // Copies after all work that was queued earlier on both sides, and returns when CPU memory on
  // either side may be reused. Work that is enqueued on the device later, in any queue, runs after
  // the copy. One context is of this kind; the other is of this kind or a CPU.
  virtual absl::Status Copy(void* dst, Context dst_context, const void* src, Context src_context,
                            int64_t bytes) = 0;
  // Overwrites `bytes` bytes with zeros, in the same order relative to other work as Copy.
  virtual absl::Status FillZero(void* dst, Context context, int64_t bytes) = 0;

  // Creates a queue. Copy and FillZero wait for its work and its later work waits for them; two
  // queues wait for each other only through DeviceQueue::WaitFor.
  virtual absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeQueue(int device_id) = 0;
};

// Registers a kind of device, which must outlive the program. Called once, from a static
// initializer.
void RegisterDevice(DeviceType type, Device* device);

// Returns the device of `context`. kUnimplemented if no device of that kind is linked, kNotFound if
// the kind is linked but has no device of that number.
absl::StatusOr<Device*> FindDevice(Context context);

// Copies `bytes` bytes between any two contexts by Device::Copy of the side that is not a CPU. Does
// nothing for 0 bytes. Errors are those of FindDevice and Device::Copy.
absl::Status CopyBytes(void* dst, Context dst_context, const void* src, Context src_context,
                       int64_t bytes);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_DEVICE_H_
