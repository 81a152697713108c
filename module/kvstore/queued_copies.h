#ifndef COOPER_MODULE_KVSTORE_QUEUED_COPIES_H_
#define COOPER_MODULE_KVSTORE_QUEUED_COPIES_H_

// Copies between devices that the host does not wait for.

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// A copy of the elements of `from` to `to`.
struct ArrayCopy {
  NDArray from;
  NDArray to;
};

// Copies each array. No copy may read or write memory that another one writes. Copies between GPUs
// are work in the devices' queues (GetQueue): after the work that these hold, and before work put
// into them later on either side. Other copies are complete when the function returns, with the
// errors of NDArray::CopyFrom. Skips arrays that are the same memory.
absl::Status CopyInQueues(absl::Span<const ArrayCopy> copies);

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_QUEUED_COPIES_H_
