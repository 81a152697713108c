#ifndef COOPER_TOOLS_BUCKET_MEMORY_H_
#define COOPER_TOOLS_BUCKET_MEMORY_H_

// What the buckets of a report take of memory with a network: planned, not bound.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "module/bucketing/bucketing_module.h"

namespace cooper {

struct BucketMemoryOptions {
  // The network of a bucket: its key is a length, or a tuple of two.
  SymGen sym_gen;
  // Of its inputs, "data:N,T;softmax_label:N,T": as ParseShapesFlag reads them (shapes_flag.h), but
  // N is the batch size, T the length of the bucket and U the second one of pairs. What ends in
  // "label" is a label.
  std::string shapes;
  int64_t batch_size = 1;
  bool training = true;  // with gradients of all parameters
};

// All in bytes.
struct BucketMemory {
  std::string network;  // for the page
  int64_t batch_size = 0;
  bool training = true;
  std::vector<int64_t> planned;  // by bucket: activations, gradients of them, scratch memory
  int64_t arena = 0;             // one for all buckets
  int64_t inputs = 0;            // of the largest batch
  int64_t parameters = 0;        // with their gradients and auxiliary states
};

// kInvalidArgument for shapes that are no such text, or without N; the errors of BucketPlan, which
// name the bucket. Compiles the network once for each bucket.
absl::StatusOr<BucketMemory> PlanBucketMemory(const BucketMemoryOptions& options,
                                              absl::Span<const BucketKey::Tuple> buckets);

}  // namespace cooper

#endif  // COOPER_TOOLS_BUCKET_MEMORY_H_
