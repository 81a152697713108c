#ifndef COOPER_NDARRAY_ARRAY_DEVICE_H_
#define COOPER_NDARRAY_ARRAY_DEVICE_H_

// What storage and copies need of a kind of device. The CPU is always there; ndarray/cuda adds the
// GPU to a program that links it.

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/context.h"

namespace cooper {

// Every allocation starts at a multiple of this many bytes.
inline constexpr int64_t kStorageAlignment = 64;

// An order of work on one device: kernels and copies that are put in run one after the other, while
// the host goes on. On a CPU all has run when a call returns. Thread-safe: what each thread puts in
// keeps its order. The end of its life waits for what it holds.
class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;

  // What kernels and libraries put work in by: a cudaStream_t; null on a CPU.
  virtual void* handle() const = 0;

  // What is put in from now on runs after what `other`, of any device, holds now.
  virtual absl::Status WaitFor(DeviceQueue& other) = 0;
  // Puts in a copy to `dst`, which is this queue's device's, or to a CPU or from one, as
  // Device::Copy. Memory of a CPU that is copied from may be used again at the return; what is
  // copied to has been written when the copy has run.
  virtual absl::Status Copy(void* dst, Context dst_context, const void* src, Context src_context,
                            int64_t bytes) = 0;
  // Returns when all that was put in has run, with the first error that a kernel met.
  virtual absl::Status Synchronize() = 0;
};

// Implementations are thread-safe and live as long as the program.
class Device {
 public:
  virtual ~Device() = default;

  // Number of devices of this kind that can be used; 0 if there is no driver.
  virtual int Count() const = 0;

  // Uninitialised memory. kResourceExhausted, naming the bytes asked for, if there is none.
  virtual absl::StatusOr<void*> Allocate(int device_id, int64_t bytes) = 0;
  // Whether memory that Allocate gives for so many bytes is zero.
  virtual bool AllocatesZeros(int64_t /*bytes*/) const { return false; }
  // Once everything that is queued on the device has run. `bytes` is what was asked for.
  virtual void Free(int device_id, void* data, int64_t bytes) = 0;

  // Copies when everything queued on both sides before has run; returns when memory of a CPU, on
  // either side, may be used again. What is put in on the device later, in any queue, runs after
  // it. One of the two contexts is of this kind, the other of this kind or a CPU.
  virtual absl::Status Copy(void* dst, Context dst_context, const void* src, Context src_context,
                            int64_t bytes) = 0;
  virtual absl::Status FillZero(void* dst, Context context, int64_t bytes) = 0;

  // A queue, which Copy and FillZero, wherever they are called, wait for and are waited for by.
  // Queues do not wait for each other unless they are told to (DeviceQueue::WaitFor).
  virtual absl::StatusOr<std::unique_ptr<DeviceQueue>> MakeQueue(int device_id) = 0;
};

// Makes a kind of device known; called once, from a static initializer.
void RegisterDevice(DeviceType type, Device* device);

// kUnimplemented if no such kind of device is linked, kNotFound if it is but has no such number.
absl::StatusOr<Device*> FindDevice(Context context);

// Copies between any two contexts, by the device's own copy where one side is a device. The errors
// are FindDevice's and Device::Copy's.
absl::Status CopyBytes(void* dst, Context dst_context, const void* src, Context src_context,
                       int64_t bytes);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_DEVICE_H_
