// Calls that manage devices.

#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/device_limits.h"
#include "tests/cuda_emulator/runtime/peer_access.h"
#include "tests/cuda_emulator/runtime/settings.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

cudaError_t CheckDevice(const char* call, int device) {
  if (device >= 0 && device < GetSettings().devices) return cudaSuccess;
  return Fail(cudaErrorInvalidDevice,
              absl::StrCat(call, ": device ", device, ", where there are ", GetSettings().devices));
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = GetSettings().devices;
  return *count > 0 ? cudaSuccess : Return(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int* device) {
  *device = CurrentDevice();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  const cudaError_t error = CheckDevice("cudaSetDevice", device);
  if (error != cudaSuccess) return error;
  SetCurrentDevice(device);
  NoteContext(device);
  return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  const cudaError_t error = CheckDevice("cudaInitDevice", device);
  if (error == cudaSuccess) NoteContext(device);
  return error;
}

cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }

cudaError_t cudaDeviceSynchronize() {
  const ApiLock lock;
  return WaitForDevice(CurrentDevice(), "cudaDeviceSynchronize");
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const cudaError_t error = CheckDevice("cudaDeviceGetAttribute", device);
  if (error != cudaSuccess) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      *value = kThreadsPerBlock;
      return cudaSuccess;
    case cudaDevAttrMaxBlockDimZ:
      *value = kMaxBlockZ;
      return cudaSuccess;
    case cudaDevAttrMaxGridDimX:
      *value = static_cast<int>(kMaxGridX);
      return cudaSuccess;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = static_cast<int>(kMaxGridYz);
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      *value = 32;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = kMultiprocessors;
      return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = kThreadsPerMultiprocessor;
      return cudaSuccess;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = kBlocksPerMultiprocessor;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = kComputeCapability / 10;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = kComputeCapability % 10;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(kSharedPerBlock);
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(kSharedPerBlockOptin);
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(kSharedPerMultiprocessor);
      return cudaSuccess;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = static_cast<int>(kSharedReserved);
      return cudaSuccess;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = 65536;
      return cudaSuccess;
    case cudaDevAttrL2CacheSize:
      *value = static_cast<int>(kL2Bytes);
      return cudaSuccess;
    case cudaDevAttrTotalConstantMemory:
      *value = static_cast<int>(kConstBytes);
      return cudaSuccess;
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCanMapHostMemory:
      *value = 1;
      return cudaSuccess;
    case cudaDevAttrPageableMemoryAccess:
      *value = GetSettings().pageable_access ? 1 : 0;
      return cudaSuccess;
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
      *value = 0;
      return cudaSuccess;
    default:
      return Fail(cudaErrorNotSupported,
                  absl::StrCat("cudaDeviceGetAttribute: attribute ", static_cast<int>(attribute)));
  }
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const cudaError_t error = CheckDevice("cudaGetDeviceProperties", device);
  if (error != cudaSuccess) return error;
  std::memset(properties, 0, sizeof(*properties));
  std::snprintf(properties->name, sizeof(properties->name), "cooper's CUDA emulator");
  properties->major = kComputeCapability / 10;
  properties->minor = kComputeCapability % 10;
  properties->totalGlobalMem = GetSettings().memory;
  properties->sharedMemPerBlock = kSharedPerBlock;
  properties->sharedMemPerBlockOptin = kSharedPerBlockOptin;
  properties->sharedMemPerMultiprocessor = kSharedPerMultiprocessor;
  properties->reservedSharedMemPerBlock = kSharedReserved;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = kThreadsPerBlock;
  properties->maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  properties->maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = kThreadsPerBlock;
  properties->maxThreadsDim[2] = kMaxBlockZ;
  properties->maxGridSize[0] = static_cast<int>(kMaxGridX);
  properties->maxGridSize[1] = properties->maxGridSize[2] = static_cast<int>(kMaxGridYz);
  properties->totalConstMem = kConstBytes;
  properties->l2CacheSize = static_cast<int>(kL2Bytes);
  properties->multiProcessorCount = kMultiprocessors;
  properties->unifiedAddressing = properties->managedMemory = properties->concurrentKernels = 1;
  properties->canMapHostMemory = properties->cooperativeLaunch = 1;
  properties->pageableMemoryAccess = GetSettings().pageable_access ? 1 : 0;
  properties->textureAlignment = 512;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  cudaError_t error = CheckDevice("cudaDeviceCanAccessPeer", device);
  if (error == cudaSuccess) error = CheckDevice("cudaDeviceCanAccessPeer", peer);
  *can = error == cudaSuccess && device != peer;
  return error;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  const ApiLock lock;
  const cudaError_t error = CheckDevice("cudaDeviceEnablePeerAccess", peer);
  if (error != cudaSuccess) return error;
  if (HasPeerAccess(CurrentDevice(), peer)) return Return(cudaErrorPeerAccessAlreadyEnabled);
  SetPeerAccess(CurrentDevice(), peer, true);
  return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  const ApiLock lock;
  const cudaError_t error = CheckDevice("cudaDeviceDisablePeerAccess", peer);
  if (error != cudaSuccess) return error;
  if (!HasPeerAccess(CurrentDevice(), peer)) return Return(cudaErrorPeerAccessNotEnabled);
  SetPeerAccess(CurrentDevice(), peer, false);
  return cudaSuccess;
}

}  // extern "C"
}  // namespace cooper::cuda_emulator
