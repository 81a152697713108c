#ifndef COOPER_MODULE_KVSTORE_QUEUED_COPIES_H_
#define COOPER_MODULE_KVSTORE_QUEUED_COPIES_H_

// Copies between devices for which the host does not wait.

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

struct ArrayCopy {
  NDArray from;
  NDArray to;
};

// Copies each array. No copy may read or write what another one writes. Between GPUs that is work
// in the devices' queues (QueueOf): after what they hold, and before what is put into them later on
// either side. Others are copied when it returns, as NDArray::CopyFrom does, whose errors these
// are. Nothing is done where both are the same memory.
absl::Status CopyInQueues(absl::Span<const ArrayCopy> copies);

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_QUEUED_COPIES_H_
