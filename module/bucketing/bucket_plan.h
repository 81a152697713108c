#ifndef COOPER_MODULE_BUCKETING_BUCKET_PLAN_H_
#define COOPER_MODULE_BUCKETING_BUCKET_PLAN_H_

// What buckets will take of memory, and what their steps compute, before anything is bound: exact,
// since it is the memory planner that says it. So batch sizes can be chosen by bytes:
//
//   COOPER_ASSIGN_OR_RETURN(auto plan, BucketPlan::Create({.sym_gen = NextWord, .buckets =
//   shapes})); COOPER_ASSIGN_OR_RETURN(const auto batch_sizes, plan.LargestBatches(256 << 20));
//   BucketIter::Create(..., {.batch_sizes = batch_sizes, ...});

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/bucket_key.h"
#include "module/bucketing/bucketing_module.h"
#include "module/network/module.h"
#include "module/options/module_options.h"

namespace cooper {

struct BucketPlanOptions {
  SymGen sym_gen;
  // The buckets, with shapes for any batch size: that of an axis 'N' of a layout is replaced.
  std::vector<BucketShapes> buckets;
  // As the BucketingModule will have them. data_names and label_names are those of sym_gen.
  ModuleOptions module;
  // As it will be bound. The shapes are those of the buckets.
  ModuleBindOptions bind;
};

struct BucketBytes {
  int64_t arena = 0;        // activations, their gradients and scratch memory: one arena for all
  int64_t lower_bound = 0;  // no plan can need less
  int64_t inputs = 0;       // one batch of data and labels
  int64_t parameters = 0;   // with gradients and auxiliary states: shared by all buckets
};

class BucketPlan {
 public:
  using BucketSize = std::pair<BucketKey, int64_t>;  // key and batch size

  // kInvalidArgument if there is no sym_gen or no bucket, or a key comes twice; kUnimplemented for
  // several contexts or group2ctxs.
  static absl::StatusOr<BucketPlan> Create(BucketPlanOptions options);

  // Of one bucket. kNotFound for a key that is none; the errors of BucketingModule::Bind, with the
  // key. Compiles, once for each size.
  absl::StatusOr<BucketBytes> Bytes(const BucketKey& key, int64_t batch_size);
  // Of several, bound together: the arena is that of the largest plan, the inputs those of the
  // largest batch, parameters of one name count once.
  absl::StatusOr<BucketBytes> Bytes(absl::Span<const BucketSize> buckets);

  // Floating-point operations of a step with such a batch, forward and backward as options.bind
  // says, without the update: what the compiled program's shapes tell (executor/compile/
  // program_flops.h). Divided by the batch size it is what a sample costs in the bucket, for
  // InterpolateStepCost (io/buckets/step_cost.h). Errors as Bytes.
  absl::StatusOr<double> Flops(const BucketKey& key, int64_t batch_size);

  // The largest batch size, at most max_batch_size, whose plan is within arena_bytes, while that of
  // the next one is not. 0 if a single sample does not fit. Compiles some five sizes.
  absl::StatusOr<int64_t> LargestBatch(const BucketKey& key, int64_t arena_bytes,
                                       int64_t max_batch_size = 4096);
  // Of all buckets. kResourceExhausted, naming it, for one of which not even one sample fits.
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
    std::unique_ptr<Module> module;  // made when it is first asked for
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
