#include "tests/cuda_emulator/runtime/copy_check.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/memory_map.h"

namespace cooper::cuda_emulator {

cudaError_t CheckRange(const char* call, const void* data, uint64_t bytes, Side side) {
  if (bytes == 0) return cudaSuccess;
  const MemoryMap& map = MemoryMap::Get();
  const auto address = reinterpret_cast<uint64_t>(data);
  const Allocation* there = map.Find(address);
  const bool on_device = map.InDeviceRange(address);
  if (side == Side::kHost && on_device) {
    return Fail(cudaErrorInvalidValue,
                absl::StrCat(call, ": memory of the host is expected at 0x", absl::Hex(address),
                             ", which is ", map.Describe(address)));
  }
  if (there == nullptr && (on_device || side == Side::kDevice)) {
    return Fail(cudaErrorInvalidValue,
                absl::StrCat(call, ": memory of a device is expected at 0x", absl::Hex(address),
                             ", which is ", map.Describe(address)));
  }
  if (there != nullptr && bytes > there->end() - address) {
    return Fail(cudaErrorInvalidValue,
                absl::StrCat(call, ": ", bytes, " bytes from ", map.Describe(address), " on"));
  }
  return cudaSuccess;
}

cudaError_t SidesOf(const char* call, cudaMemcpyKind kind, Side& dst, Side& src) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      dst = src = Side::kHost;
      return cudaSuccess;
    case cudaMemcpyHostToDevice:
      dst = Side::kDevice;
      src = Side::kHost;
      return cudaSuccess;
    case cudaMemcpyDeviceToHost:
      dst = Side::kHost;
      src = Side::kDevice;
      return cudaSuccess;
    case cudaMemcpyDeviceToDevice:
      dst = src = Side::kDevice;
      return cudaSuccess;
    case cudaMemcpyDefault:
      dst = src = Side::kEither;
      return cudaSuccess;
  }
  return Fail(cudaErrorInvalidMemcpyDirection,
              absl::StrCat(call, ": kind ", static_cast<int>(kind)));
}

}  // namespace cooper::cuda_emulator
