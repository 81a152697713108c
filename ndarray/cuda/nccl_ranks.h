#ifndef COOPER_NDARRAY_CUDA_NCCL_RANKS_H_
#define COOPER_NDARRAY_CUDA_NCCL_RANKS_H_

// Sums over GPUs, of one process or of many, by NCCL. The library is opened at run time, so that a
// program that links this also starts where it is not installed.

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cuda_runtime.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// This process's devices in the sums of a set of devices, which NCCL calls its ranks. Used by one
// thread at a time, but for Abort.
class NcclRanks {
 public:
  // OK if the library and every function of it that is used here is found; kFailedPrecondition,
  // saying where it was looked for, otherwise.
  static absl::Status CheckInstalled();

  // What tells one set from others: bytes, made by one process and given to all.
  static absl::StatusOr<std::string> MakeId();

  // The ranks `first`, `first` + 1, ... of `size` in all, on this process's `devices`. All
  // processes of the set call it at once, with the same id. kInvalidArgument if `id` is none;
  // kInternal or kUnavailable, with NCCL's words: then the other processes have to give theirs up.
  static absl::StatusOr<std::unique_ptr<NcclRanks>> Create(const std::string& id, int size,
                                                           int first,
                                                           absl::Span<const int> devices);

  // Waits for the sums that have begun, and for the other processes of this machine to end their
  // ranks of the set; unless those were given up or have an AsyncError(). Not within a group.
  ~NcclRanks();
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  int first() const { return first_; }
  int count() const { return static_cast<int>(devices_.size()); }
  int size() const { return size_; }

  // Overwrites `sum` with the sum of all ranks' `values`, which may be the same memory; both are of
  // `shape` and of a floating dtype, on devices[i]. Queued on `stream`. A process that has several
  // ranks calls it for all of them within one group.
  absl::Status AllReduceSum(int i, const void* values, void* sum, const Shape& shape, DType dtype,
                            cudaStream_t stream);

  // What is called between these two is put in at the end, as one. They nest. Where GroupStart
  // fails there is no group to end.
  absl::Status GroupStart();
  absl::Status GroupEnd();

  // What has gone wrong in sums that are queued, as far as NCCL has noticed: then they are given
  // up.
  absl::Status AsyncError();

  // Gives the ranks up without waiting for others: sums that have begun end unfinished, with
  // anything in their arrays, and what is called later fails with `why`, an error. May be called by
  // any thread; waits for the end of a group.
  void Abort(absl::Status why);

 private:
  NcclRanks(std::vector<int> devices, int first, int size)
      : devices_(std::move(devices)), first_(first), size_(size) {}

  std::string Describe(int i) const;
  // With mutex_ held:
  absl::Status FindAsyncError() const;
  void GiveUp(absl::Status why);

  const std::vector<int> devices_;
  const int first_;
  const int size_;
  int depth_ = 0;  // of groups: the outermost one holds mutex_, since NCCL has noted communicators_
  std::mutex mutex_;
  std::vector<void*> communicators_;  // ncclComm_t, by device; none if given up or not made
  absl::Status given_up_;             // why
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_NCCL_RANKS_H_
