#ifndef COOPER_TOOLS_BUCKETS_BUCKET_MEMORY_H_
#define COOPER_TOOLS_BUCKETS_BUCKET_MEMORY_H_

// Plans the memory of a network for the buckets of a report, without binding it.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "module/bucketing/bucketing_module.h"

namespace cooper {

// Options of PlanBucketMemory.
struct BucketMemoryOptions {
  // Returns the network of a bucket; the key is a length, or a tuple of two.
  SymGen sym_gen;
  // Shapes of the inputs, "data:N,T;softmax_label:N,T": in the format of ParseShapesFlag
  // (shapes_flag.h), with N for the batch size, T for the length of the bucket and U for the second
  // length of pairs. Inputs whose name ends in "label" are labels.
  std::string shapes;
  int64_t batch_size = 1;
  bool training = true;  // with gradients of all parameters
};

// Planned memory, in bytes.
struct BucketMemory {
  std::string network;  // for the page
  int64_t batch_size = 0;
  bool training = true;
  std::vector<int64_t> planned;  // by bucket: activations, their gradients and scratch memory
  int64_t arena = 0;             // one for all buckets
  int64_t inputs = 0;            // of the largest batch
  int64_t parameters = 0;        // with their gradients and auxiliary states
};

// Plans the memory for `buckets`. Fails with kInvalidArgument for malformed shapes or shapes
// without N, and with the errors of BucketPlan, which name the bucket. Compiles the network once
// for each bucket.
absl::StatusOr<BucketMemory> PlanBucketMemory(const BucketMemoryOptions& options,
                                              absl::Span<const BucketKey::Tuple> buckets);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKETS_BUCKET_MEMORY_H_
