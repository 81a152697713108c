// Calls that allocate and free memory and query its attributes.

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tests/cuda_emulator/runtime/memory_map.h"
#include "tests/cuda_emulator/runtime/settings.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

cudaError_t Allocate(const char* call, MemoryKind kind, void** result, size_t bytes) {
  const ApiLock lock;
  if (result == nullptr) return Fail(cudaErrorInvalidValue, absl::StrCat(call, ": no result"));
  *result = nullptr;
  if (kind == MemoryKind::kDevice) {
    if (const cudaError_t error = RefuseInCapture(call); error != cudaSuccess) return error;
  }
  if (StickyError() != cudaSuccess) return Return(StickyError());
  NoteContext(CurrentDevice());
  if (bytes == 0) return cudaSuccess;
  CountAllocation(call, static_cast<int64_t>(bytes));
  *result = MemoryMap::Get().Allocate(kind, CurrentDevice(), bytes);
  return *result != nullptr ? cudaSuccess : Return(cudaErrorMemoryAllocation);
}

// Frees device or managed memory. All work queued on the device has run.
cudaError_t FreeOnDevice(const char* call, void* data) {
  CountFree();
  if (MemoryMap::Get().Free(data, MemoryKind::kDevice)) return cudaSuccess;
  if (MemoryMap::Get().Free(data, MemoryKind::kManaged)) return cudaSuccess;
  return Fail(cudaErrorInvalidValue,
              absl::StrCat(call, ": no allocation begins there; it is ",
                           MemoryMap::Get().Describe(reinterpret_cast<uint64_t>(data))));
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** result, size_t bytes) {
  return Allocate("cudaMalloc", MemoryKind::kDevice, result, bytes);
}

cudaError_t cudaMallocManaged(void** result, size_t bytes, unsigned) {
  return Allocate("cudaMallocManaged", MemoryKind::kManaged, result, bytes);
}

cudaError_t cudaMallocHost(void** result, size_t bytes) {
  return Allocate("cudaMallocHost", MemoryKind::kPinned, result, bytes);
}

cudaError_t cudaHostAlloc(void** result, size_t bytes, unsigned) {
  return Allocate("cudaHostAlloc", MemoryKind::kPinned, result, bytes);
}

cudaError_t cudaMallocAsync(void** result, size_t bytes, cudaStream_t) {
  return Allocate("cudaMallocAsync", MemoryKind::kDevice, result, bytes);
}

cudaError_t cudaFree(void* data) {
  const ApiLock lock;
  NoteContext(CurrentDevice());
  if (data == nullptr) return cudaSuccess;
  const Allocation* there = MemoryMap::Get().Find(reinterpret_cast<uint64_t>(data));
  const int device = there == nullptr ? CurrentDevice() : there->device;
  const cudaError_t error = WaitForDevice(device, "cudaFree");
  if (error != cudaSuccess && error != StickyError()) return error;  // during a capture
  const cudaError_t freed = FreeOnDevice("cudaFree", data);
  return error != cudaSuccess ? error : freed;
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t handle) {
  const ApiLock lock;
  if (data == nullptr) return cudaSuccess;
  CUstream_st* stream = FindStream(handle, "cudaFreeAsync");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return Enqueue(*stream, {cudaGraphNodeTypeMemFree, "cudaFreeAsync",
                           [data] { return FreeOnDevice("cudaFreeAsync", data); }});
}

cudaError_t cudaFreeHost(void* data) {
  const ApiLock lock;
  if (data == nullptr) return cudaSuccess;
  CountFree();
  if (MemoryMap::Get().Free(data, MemoryKind::kPinned)) return cudaSuccess;
  return Fail(cudaErrorInvalidValue, "cudaFreeHost: no allocation of pinned memory begins there");
}

cudaError_t cudaHostRegister(void* data, size_t bytes, unsigned) {
  const ApiLock lock;
  if (bytes > 0 && MemoryMap::Get().Register(data, bytes)) return cudaSuccess;
  return Fail(cudaErrorInvalidValue,
              "cudaHostRegister: no bytes, or bytes of a device, or registered already");
}

cudaError_t cudaHostUnregister(void* data) {
  const ApiLock lock;
  if (MemoryMap::Get().Unregister(data)) return cudaSuccess;
  return Fail(cudaErrorInvalidValue, "cudaHostUnregister: nothing was registered there");
}

// Pinned memory has one address for host and devices.
cudaError_t cudaHostGetDevicePointer(void** result, void* data, unsigned) {
  const ApiLock lock;
  const Allocation* there = MemoryMap::Get().Find(reinterpret_cast<uint64_t>(data));
  if (there == nullptr || there->kind != MemoryKind::kPinned) {
    return Fail(cudaErrorInvalidValue, "cudaHostGetDevicePointer: the memory is not pinned");
  }
  *result = data;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  const ApiLock lock;
  *total = GetSettings().memory;
  *available = *total - MemoryMap::Get().UsedBytes(CurrentDevice());
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  const ApiLock lock;
  *attributes = {};
  const Allocation* there = MemoryMap::Get().Find(reinterpret_cast<uint64_t>(data));
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = -2;  // CUDA's value for unregistered memory
  attributes->hostPointer = const_cast<void*>(data);
  if (there == nullptr) return cudaSuccess;
  attributes->device = there->device;
  attributes->devicePointer = const_cast<void*>(data);
  switch (there->kind) {
    case MemoryKind::kDevice:
      attributes->type = cudaMemoryTypeDevice;
      attributes->hostPointer = nullptr;
      break;
    case MemoryKind::kManaged:
      attributes->type = cudaMemoryTypeManaged;
      break;
    case MemoryKind::kPinned:
      attributes->type = cudaMemoryTypeHost;
      break;
  }
  return cudaSuccess;
}

// The location of managed memory is not observable, so this does nothing.
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t) {
  return cudaSuccess;
}

}  // extern "C"
}  // namespace cooper::cuda_emulator
