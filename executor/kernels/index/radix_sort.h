#ifndef COOPER_EXECUTOR_KERNELS_INDEX_RADIX_SORT_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_RADIX_SORT_H_

// A stable sort of (key, value) pairs on a GPU, by CUB's radix sort. It sorts rows (topk, sort,
// argsort), ranks boxes (box_nms), and groups rows that are summed into one (sorted_rows.h), so
// that the order of a sum does not depend on the run. row_sort.h sorts short rows faster.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/program/kernel.h"
#include "ndarray/base/context.h"

namespace cooper {

// Returns the number of bits of the integers below `count`: 3 for 5, 0 for 1. Sorting by fewer bits
// takes fewer passes.
inline int BitsOf(int64_t count) {
  int bits = 0;
  while (bits < 63 && (int64_t{1} << bits) < count) ++bits;
  return bits;
}

// A sort of `count` pairs in the workspace of a kernel. References the KernelContext, which must
// outlive it. Not thread-safe. All work goes to the context's queue, and a later kernel may change
// keys between two sorts: sorting by a minor key and then by a major one orders by both.
//
//   PairSort sort(c, count);  // the workspace has WorkspaceBytes(context, count) bytes
//   LaunchElements(c, count, MakeKeys, count, x, sort.keys(), sort.values());
//   sort.Sort(32);
//   LaunchElements(c, count, Use, count, sort.values(), y);
class PairSort {
 public:
  // Returns the bytes of workspace for `count` pairs. Errors: kUnimplemented if count is 2^31 or
  // more; those of CUDA.
  static absl::StatusOr<int64_t> WorkspaceBytes(const Context& context, int64_t count);

  // Uses WorkspaceBytes() bytes of the workspace of `c`, from `offset` on, a multiple of 256.
  // `count` is above 0.
  PairSort(const KernelContext& c, int64_t count, int64_t offset = 0);

  // The pairs, in device memory; to be filled before the first Sort, which moves them: call these
  // functions again after each Sort.
  uint64_t* keys() const { return keys_[current_]; }
  int32_t* values() const { return values_[current_]; }

  // Queues an ascending, stable sort by bits [0, bits) of the keys; other bits are ignored. Does
  // nothing if `bits` is 0. O(count * bits) time. Errors: those of CUDA.
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
