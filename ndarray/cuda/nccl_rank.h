#ifndef COOPER_NDARRAY_CUDA_NCCL_RANK_H_
#define COOPER_NDARRAY_CUDA_NCCL_RANK_H_

// Sums over GPUs, of one process or of many, by NCCL. The library is opened at run time, so that a
// program that links this also starts where it is not installed.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cuda_runtime.h"
#include "ndarray/dtype.h"
#include "ndarray/shape.h"

namespace cooper {

// One device's part in the sums of a set of devices, which NCCL calls its ranks. Used by one thread
// at a time.
class NcclRank {
 public:
  // OK if the library and every function of it that is used here is found; kFailedPrecondition,
  // saying where it was looked for, otherwise.
  static absl::Status CheckInstalled();

  // What tells one set from others: bytes, made by one process and given to all.
  static absl::StatusOr<std::string> MakeId();

  // The ranks `first`, `first` + 1, ... of `size` in all, on this process's `devices`. All
  // processes of the set call it at once, with the same id. kInvalidArgument if `id` is none;
  // kInternal or kUnavailable, with NCCL's words.
  static absl::StatusOr<std::vector<std::unique_ptr<NcclRank>>> Create(
      const std::string& id, int size, int first, absl::Span<const int> devices);

  ~NcclRank();
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Overwrites `sum` with the sum of all ranks' `values`, which may be the same memory; both are of
  // `shape` and of a floating dtype, on this device. Queued on `stream`. A process that has several
  // ranks calls it for all of them within one group.
  absl::Status AllReduceSum(const void* values, void* sum, const Shape& shape, DType dtype,
                            cudaStream_t stream);

  // What is called between these two, by one thread, is put in at the end, as one. They nest.
  static absl::Status GroupStart();
  static absl::Status GroupEnd();

  // What has gone wrong in sums that are queued, as far as NCCL has noticed.
  absl::Status AsyncError() const;

 private:
  NcclRank(void* communicator, int device_id, int rank, int size)
      : communicator_(communicator), device_id_(device_id), rank_(rank), size_(size) {}

  void* const communicator_;  // an ncclComm_t
  const int device_id_;
  const int rank_;
  const int size_;
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_NCCL_RANK_H_
