#ifndef COOPER_NDARRAY_CUDA_NCCL_RANKS_H_
#define COOPER_NDARRAY_CUDA_NCCL_RANKS_H_

// Sums over GPUs of one or several processes with NCCL. The library is opened at run time, so that
// a program that links this file also starts where NCCL is not installed.

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

// The ranks (NCCL's word for the members of a communicator) that this process's devices have in a
// set of devices. Used by one thread at a time, except Abort.
class NcclRanks {
 public:
  // Returns OK if the library has every function that cooper uses; otherwise kFailedPrecondition
  // with the searched places.
  static absl::Status CheckInstalled();

  // Returns the bytes that identify one set. One process creates them and passes them to all
  // others.
  static absl::StatusOr<std::string> MakeId();

  // Creates the ranks `first`, `first` + 1, ... of `size` in all, on this process's `devices`. All
  // processes of the set call it at the same time with the same id. Errors: kInvalidArgument if
  // `id` is malformed; kInternal or kUnavailable with NCCL's message, after which the other
  // processes must abort their ranks.
  static absl::StatusOr<std::unique_ptr<NcclRanks>> Create(const std::string& id, int size,
                                                           int first,
                                                           absl::Span<const int> devices);

  // Waits for pending sums, and for the other processes of this machine to destroy their ranks of
  // the set, unless the ranks were aborted or have an AsyncError(). Must not run within a group.
  ~NcclRanks();
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  // Return the number of this process's first rank, the number of its ranks (one per device), and
  // the number of ranks in the whole set.
  int first() const { return first_; }
  int count() const { return static_cast<int>(devices_.size()); }
  int size() const { return size_; }

  // Overwrites `sum` with the sum of `values` over all ranks, for this process's rank on
  // devices[i]. `values` and `sum` have `shape` and a floating dtype, are on that device, and may
  // be the same memory. Enqueued on `stream`. A process with several ranks calls it for each of
  // them within one group.
  absl::Status AllReduceSum(int i, const void* values, void* sum, const Shape& shape, DType dtype,
                            cudaStream_t stream);

  // The calls between GroupStart and GroupEnd are enqueued together at the end. Groups nest. If
  // GroupStart fails there is no group to end.
  absl::Status GroupStart();
  absl::Status GroupEnd();

  // Returns the first error that NCCL has found in queued sums up to now, or the reason of an
  // abort. If it finds one outside a group, it aborts the ranks.
  absl::Status AsyncError();

  // Aborts the ranks without waiting for others: pending sums end unfinished, with undefined values
  // in their arrays, and later calls fail with `why`, an error. Any thread may call it; it waits
  // for the end of a group.
  void Abort(absl::Status why);

 private:
  NcclRanks(std::vector<int> devices, int first, int size)
      : devices_(std::move(devices)), first_(first), size_(size) {}

  std::string Describe(int i) const;
  // Both functions below require that mutex_ is held. FindAsyncError returns the first error of a
  // communicator; GiveUp aborts the ranks for the reason `why`.
  absl::Status FindAsyncError() const;
  void GiveUp(absl::Status why);

  const std::vector<int> devices_;
  const int first_;
  const int size_;
  int depth_ = 0;  // nesting depth of groups; the outermost group holds mutex_
  std::mutex mutex_;
  std::vector<void*> communicators_;  // ncclComm_t, by device; empty after an abort
  absl::Status given_up_;             // the reason of the abort; OK before
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_NCCL_RANKS_H_
