#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "cub/device/device_radix_sort.cuh"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/launch/launch.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {
namespace {

// With `scratch` null, only sets *bytes. After a sort `keys` and `values` refer to the result.
cudaError_t SortPairs(void* scratch, size_t* bytes, cub::DoubleBuffer<uint64_t>* keys,
                      cub::DoubleBuffer<int32_t>* values, int64_t count, int bits,
                      cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(scratch, *bytes, *keys, *values, static_cast<int>(count),
                                         0, bits, stream);
}

absl::StatusOr<int64_t> ScratchBytes(int64_t count) {
  cub::DoubleBuffer<uint64_t> keys;
  cub::DoubleBuffer<int32_t> values;
  size_t bytes = 0;
  COOPER_RETURN_IF_ERROR(
      CudaStatus(SortPairs(nullptr, &bytes, &keys, &values, count, 64, nullptr), "SortPairs"));
  return static_cast<int64_t>(bytes);
}

// Returns the bytes of an array, rounded up to the alignment of the next one.
int64_t Aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

int64_t PairsBytes(int64_t count) {
  return 2 * Aligned(count * static_cast<int64_t>(sizeof(uint64_t))) +
         2 * Aligned(count * static_cast<int64_t>(sizeof(int32_t)));
}

}  // namespace

absl::StatusOr<int64_t> PairSort::WorkspaceBytes(const Context& context, int64_t count) {
  if (count > std::numeric_limits<int32_t>::max()) {
    return absl::UnimplementedError(absl::StrCat("sorting ", count, " elements, at most 2^31 - 1"));
  }
  if (count == 0) return 0;
  const CudaDeviceScope scope(context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  COOPER_ASSIGN_OR_RETURN(const int64_t scratch, ScratchBytes(count));
  return PairsBytes(count) + scratch;
}

PairSort::PairSort(const KernelContext& c, int64_t count, int64_t offset) : c_(c), count_(count) {
  char* at = static_cast<char*>(c.workspace) + offset;
  for (uint64_t*& keys : keys_) {
    keys = reinterpret_cast<uint64_t*>(at);
    at += Aligned(count * static_cast<int64_t>(sizeof(uint64_t)));
  }
  for (int32_t*& values : values_) {
    values = reinterpret_cast<int32_t*>(at);
    at += Aligned(count * static_cast<int64_t>(sizeof(int32_t)));
  }
  scratch_ = at;
}

absl::Status PairSort::Sort(int bits) {
  if (bits == 0) return absl::OkStatus();
  const CudaDeviceScope scope(c_.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  COOPER_ASSIGN_OR_RETURN(const int64_t scratch_bytes, ScratchBytes(count_));
  size_t bytes = static_cast<size_t>(scratch_bytes);
  cub::DoubleBuffer<uint64_t> keys(keys_[current_], keys_[1 - current_]);
  cub::DoubleBuffer<int32_t> values(values_[current_], values_[1 - current_]);
  COOPER_RETURN_IF_ERROR(CudaStatus(
      SortPairs(scratch_, &bytes, &keys, &values, count_, bits, StreamOf(c_)), "SortPairs"));
  if (keys.Current() != keys_[current_]) current_ = 1 - current_;
  return absl::OkStatus();
}

}  // namespace cooper
