#ifndef COOPER_EXECUTOR_KERNELS_INDEX_RADIX_SORT_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_RADIX_SORT_H_

// A stable sort of pairs on a GPU: what orders rows, and what brings together the rows that are
// summed into one, so that they are summed in an order that does not depend on the run.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/program/kernel.h"
#include "ndarray/base/context.h"

namespace cooper {

// The bits that numbers below `count` need.
inline int BitsOf(int64_t count) {
  int bits = 0;
  while (bits < 63 && (int64_t{1} << bits) < count) ++bits;
  return bits;
}

class PairSort {
 public:
  // Bytes of workspace for `count` pairs. kUnimplemented from 2^31 pairs on.
  static absl::StatusOr<int64_t> WorkspaceBytes(const Context& context, int64_t count);

  // For `count` > 0 pairs in the workspace of `c`, which has as many bytes behind the first
  // `offset`, a multiple of 256.
  PairSort(const KernelContext& c, int64_t count, int64_t offset = 0);

  // The pairs, in device memory: to be filled before the first sort. A sort moves them.
  uint64_t* keys() const { return keys_[current_]; }
  int32_t* values() const { return values_[current_]; }

  // Queues a sort by the key's bits [0, bits), ascending; equal ones keep their order.
  absl::Status Sort(int bits);

 private:
  const KernelContext& c_;
  const int64_t count_;
  uint64_t* keys_[2];
  int32_t* values_[2];
  void* scratch_;
  int current_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_RADIX_SORT_H_
