// Calls that copy and fill memory.
//
// Ranges and directions are checked at the call. Pageable host memory is read at the call and
// written before it returns; pinned memory is accessed when the copy runs. With
// Settings::pageable_access all memory is accessed when the copy runs, which CUDA permits.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/copy.h"
#include "tests/cuda_emulator/runtime/copy_check.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tests/cuda_emulator/runtime/memory_map.h"
#include "tests/cuda_emulator/runtime/settings.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

// `height` rows of `width` bytes.
struct Rows {
  void* dst;
  size_t dst_pitch;
  const void* src;
  size_t src_pitch;
  size_t width;
  size_t height;
};

size_t SpanOf(size_t pitch, size_t width, size_t height) {
  return width == 0 || height == 0 ? 0 : pitch * (height - 1) + width;
}

bool IsStaged(const void* data) {
  return !GetSettings().pageable_access &&
         MemoryMap::Get().Find(reinterpret_cast<uint64_t>(data)) == nullptr;
}

bool IsOnDevice(const void* data) {
  const Allocation* there = MemoryMap::Get().Find(reinterpret_cast<uint64_t>(data));
  return there != nullptr && there->kind != MemoryKind::kPinned;
}

// Returns the actual direction, independent of the one that the call names.
const char* DirectionOf(const Rows& rows) {
  if (IsOnDevice(rows.dst)) return IsOnDevice(rows.src) ? "device to device" : "host to device";
  return IsOnDevice(rows.src) ? "device to host" : "host to host";
}

void CopyRows(const Rows& rows) {
  ptx::SectorCache* const cache = TheCache();
  const bool reads = IsOnDevice(rows.src), writes = IsOnDevice(rows.dst);
  for (size_t row = 0; row < rows.height; ++row) {
    char* const dst = static_cast<char*>(rows.dst) + row * rows.dst_pitch;
    const char* const src = static_cast<const char*>(rows.src) + row * rows.src_pitch;
    std::memmove(dst, src, rows.width);
    if (cache == nullptr) continue;
    if (reads) cache->ReadRange(src, static_cast<int64_t>(rows.width));
    if (writes) cache->WriteRange(dst, static_cast<int64_t>(rows.width));
  }
  CountCopy(DirectionOf(rows), static_cast<int64_t>(rows.width * rows.height));
}

// Checks and queues a copy. With `wait`, returns when the copy is complete.
cudaError_t Copy(const char* call, Rows rows, cudaMemcpyKind kind, cudaStream_t handle, bool wait) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, call);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (rows.height > 1 && (rows.width > rows.dst_pitch || rows.width > rows.src_pitch)) {
    return Fail(cudaErrorInvalidPitchValue, absl::StrCat(call, ": rows are wider than the pitch"));
  }
  Side dst = Side::kEither, src = Side::kEither;
  cudaError_t error = SidesOf(call, kind, dst, src);
  const size_t dst_bytes = SpanOf(rows.dst_pitch, rows.width, rows.height);
  const size_t src_bytes = SpanOf(rows.src_pitch, rows.width, rows.height);
  if (error == cudaSuccess) error = CheckRange(call, rows.dst, dst_bytes, dst);
  if (error == cudaSuccess) error = CheckRange(call, rows.src, src_bytes, src);
  if (error != cudaSuccess) return error;
  if (dst_bytes == 0) return Return(StickyError());
  const bool captured = stream->capture != nullptr;
  std::shared_ptr<std::vector<char>> staged;
  if (!captured && !wait && IsStaged(rows.src)) {
    const char* begin = static_cast<const char*>(rows.src);
    staged = std::make_shared<std::vector<char>>(begin, begin + src_bytes);
    rows.src = staged->data();
  }
  const bool written_now = wait || (!captured && IsStaged(rows.dst));
  error =
      Enqueue(*stream, {cudaGraphNodeTypeMemcpy, call, [call, rows, staged, dst, src] {
                          // Memory may have been freed since the call.
                          cudaError_t late = CheckRange(
                              call, rows.dst, SpanOf(rows.dst_pitch, rows.width, rows.height), dst);
                          if (late == cudaSuccess && staged == nullptr) {
                            late = CheckRange(call, rows.src,
                                              SpanOf(rows.src_pitch, rows.width, rows.height), src);
                          }
                          if (late == cudaSuccess) CopyRows(rows);
                          return late;
                        }});
  if (error != cudaSuccess || !written_now) return error;
  return WaitForStream(*stream, call);
}

cudaError_t Fill(const char* call, void* data, size_t pitch, int value, size_t width, size_t height,
                 cudaStream_t handle) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, call);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (height > 1 && width > pitch) {
    return Fail(cudaErrorInvalidPitchValue, absl::StrCat(call, ": rows are wider than the pitch"));
  }
  const size_t bytes = SpanOf(pitch, width, height);
  const cudaError_t error = CheckRange(call, data, bytes, Side::kDevice);
  if (error != cudaSuccess) return error;
  if (bytes == 0) return Return(StickyError());
  return Enqueue(*stream,
                 {cudaGraphNodeTypeMemset, call, [call, data, pitch, value, width, height, bytes] {
                    const cudaError_t late = CheckRange(call, data, bytes, Side::kDevice);
                    if (late != cudaSuccess) return late;
                    for (size_t row = 0; row < height; ++row) {
                      char* const to = static_cast<char*>(data) + row * pitch;
                      std::memset(to, value, width);
                      if (TheCache() == nullptr) continue;
                      TheCache()->WriteRange(to, static_cast<int64_t>(width));
                    }
                    CountCopy("fill", static_cast<int64_t>(width * height));
                    return cudaSuccess;
                  }});
}

}  // namespace

cudaError_t Copy(const char* call, void* dst, const void* src, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool wait) {
  return Copy(call, {dst, bytes, src, bytes, bytes, bytes == 0 ? 0u : 1u}, kind, stream, wait);
}

extern "C" {

cudaError_t cudaMemcpy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
  return Copy("cudaMemcpy", dst, src, bytes, kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return Copy("cudaMemcpyAsync", dst, src, bytes, kind, stream, false);
}

cudaError_t cudaMemcpyPeer(void* dst, int, const void* src, int src_device, size_t bytes) {
  const ApiLock lock;
  const cudaError_t error = WaitForDevice(src_device, "cudaMemcpyPeer");
  if (error != cudaSuccess) return error;
  return Copy("cudaMemcpyPeer", dst, src, bytes, cudaMemcpyDeviceToDevice, nullptr, true);
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int, const void* src, int, size_t bytes,
                                cudaStream_t stream) {
  return Copy("cudaMemcpyPeerAsync", dst, src, bytes, cudaMemcpyDeviceToDevice, stream, false);
}

cudaError_t cudaMemcpy2D(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return Copy("cudaMemcpy2D", {dst, dst_pitch, src, src_pitch, width, height}, kind, nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return Copy("cudaMemcpy2DAsync", {dst, dst_pitch, src, src_pitch, width, height}, kind, stream,
              false);
}

cudaError_t cudaMemset(void* data, int value, size_t bytes) {
  return Fill("cudaMemset", data, bytes, value, bytes, 1, nullptr);
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  return Fill("cudaMemsetAsync", data, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemset2D(void* data, size_t pitch, int value, size_t width, size_t height) {
  return Fill("cudaMemset2D", data, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void* data, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return Fill("cudaMemset2DAsync", data, pitch, value, width, height, stream);
}

}  // extern "C"
}  // namespace cooper::cuda_emulator
