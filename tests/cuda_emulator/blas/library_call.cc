#include "tests/cuda_emulator/blas/library_call.h"

#include <cstdio>
#include <utility>

#include "tests/cuda_emulator/ptx/counters.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/copy_check.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

bool AreOnDevice(const LibraryCall& call) {
  for (const MemoryRange& range : call.ranges) {
    if (range.bytes == 0) continue;
    if (CheckRange(call.name.c_str(), range.data, range.bytes, Side::kDevice) != cudaSuccess) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool QueueLibraryCall(LibraryCall call) {
  const ApiLock lock;
  if (call.device != CurrentDevice()) {
    std::fprintf(stderr, "cuda emulator: %s: a handle of device %d, while device %d is current\n",
                 call.name.c_str(), call.device, CurrentDevice());
    return false;
  }
  CUstream_st* stream = FindStream(call.stream, call.name.c_str());
  if (stream == nullptr || !AreOnDevice(call)) return false;
  const std::string name = call.name;
  return Enqueue(*stream, {cudaGraphNodeTypeKernel, name, [call = std::move(call)] {
                             // Memory may have been freed after the call.
                             if (!AreOnDevice(call)) return cudaErrorIllegalAddress;
                             ptx::Counters counters;
                             counters.flops = call.flops;
                             CountRun(call.name, counters);
                             return call.run();
                           }}) == cudaSuccess;
}

bool PointToDevice(const char* call, const void* const* pointers, int64_t count, int64_t bytes) {
  for (int64_t i = 0; i < count; ++i) {
    if (CheckRange(call, pointers[i], bytes, Side::kDevice) != cudaSuccess) return false;
  }
  return true;
}

}  // namespace cooper::cuda_emulator
