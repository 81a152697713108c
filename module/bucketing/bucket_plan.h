#ifndef COOPER_MODULE_BUCKETING_BUCKET_PLAN_H_
#define COOPER_MODULE_BUCKETING_BUCKET_PLAN_H_

// Computes the memory and the floating-point operations of buckets without binding them. The bytes
// are exact, because the memory planner computes them. Batch sizes can be chosen by bytes:
//
//   COOPER_ASSIGN_OR_RETURN(
//       auto plan, BucketPlan::Create({.sym_gen = NextWord, .buckets = shapes}));
//   COOPER_ASSIGN_OR_RETURN(const auto batch_sizes, plan.LargestBatches(256 << 20));
//   BucketIter::Create(..., {.batch_sizes = batch_sizes, ...});

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/network/module.h"
#include "module/options/module_options.h"
#include "module/options/sym_gen.h"

namespace cooper {

// Options of BucketPlan::Create. With the options of the future module, the bytes are those that it
// will allocate.
struct BucketPlanOptions {
  SymGen sym_gen;
  // The buckets, with shapes for any batch size: axis 'N' of each layout is replaced.
  std::vector<BucketShapes> buckets;
  ComputeOptions compute;  // of the future BucketingModule
  // The options of the future Bind. The shapes come from the buckets instead.
  ModuleBindOptions bind;
};

// Memory of one bucket or of several, in bytes.
struct BucketBytes {
  int64_t arena = 0;        // activations, their gradients and scratch memory: one arena for all
  int64_t lower_bound = 0;  // no plan can need less
  int64_t inputs = 0;       // one batch of data and labels
  int64_t parameters = 0;   // with gradients and auxiliary states: shared by all buckets
};

// Plans buckets and caches the results by key and batch size. Not thread-safe.
class BucketPlan {
 public:
  using BucketSize = std::pair<BucketKey, int64_t>;  // key and batch size

  // Errors: kInvalidArgument if sym_gen is missing, there is no bucket, or a key is listed twice;
  // kUnimplemented for several contexts or group2ctxs.
  static absl::StatusOr<BucketPlan> Create(BucketPlanOptions options);

  // Returns the bytes of one bucket. Compiles the bucket once per batch size.
  //
  // Errors: kNotFound for an unknown key; kInvalidArgument if batch_size < 1; those of
  // BucketingModule::Bind. Every message names the key.
  absl::StatusOr<BucketBytes> Bytes(const BucketKey& key, int64_t batch_size);
  // Returns the bytes of several buckets that are bound together: the arena of the largest plan,
  // the inputs of the largest batch, and each parameter name counted once.
  absl::StatusOr<BucketBytes> Bytes(absl::Span<const BucketSize> buckets);

  // Returns the floating-point operations of one step with such a batch: forward and, as
  // options.bind says, backward, without the update (executor/compile/program_flops.h). Divided by
  // the batch size it is the cost of one sample for InterpolateStepCost (io/buckets/step_cost.h).
  // Errors as for Bytes.
  absl::StatusOr<double> Flops(const BucketKey& key, int64_t batch_size);

  // Returns the largest batch size, at most max_batch_size, whose plan fits arena_bytes while the
  // plan of the next size does not; 0 if not even one sample fits. Compiles about five sizes.
  absl::StatusOr<int64_t> LargestBatch(const BucketKey& key, int64_t arena_bytes,
                                       int64_t max_batch_size = 4096);
  // Returns LargestBatch for every bucket. kResourceExhausted, naming the bucket, if not even one
  // sample of it fits.
  absl::StatusOr<std::map<BucketKey, int64_t>> LargestBatches(int64_t arena_bytes,
                                                              int64_t max_batch_size = 4096);

 private:
  struct Sized {
    BucketBytes bytes;
    double flops = 0;
    std::map<std::string, int64_t> parameters;  // bytes by name
  };
  struct Bucket {
    BucketShapes shapes;
    std::unique_ptr<Module> module;  // created on first use
    std::map<int64_t, Sized> sizes;
  };

  explicit BucketPlan(BucketPlanOptions options) : options_(std::move(options)) {}
  absl::StatusOr<Bucket*> Find(const BucketKey& key);
  absl::StatusOr<const Sized*> Plan(const BucketKey& key, int64_t batch_size);
  absl::StatusOr<Sized> Compile(Bucket& bucket, int64_t batch_size) const;

  BucketPlanOptions options_;
  std::map<BucketKey, Bucket> buckets_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_BUCKETING_BUCKET_PLAN_H_
