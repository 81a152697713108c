#include "module/bucketing/bucket_plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/compile/program_flops.h"
#include "io/batch/call_with_key.h"
#include "io/batch/data_desc.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

std::vector<DataDesc> WithBatchSize(std::vector<DataDesc> descs, int64_t batch_size) {
  for (DataDesc& desc : descs) {
    const int axis = BatchAxis(desc.layout);
    if (axis >= 0 && axis < desc.shape.rank()) desc.shape[axis] = batch_size;
  }
  return descs;
}

int64_t BytesOf(const Shape& shape, DType dtype) { return shape.num_elements() * SizeOf(dtype); }

int64_t BytesOf(const std::vector<DataDesc>& descs) {
  int64_t bytes = 0;
  for (const DataDesc& desc : descs) bytes += BytesOf(desc.shape, desc.dtype);
  return bytes;
}

}  // namespace

absl::StatusOr<BucketPlan> BucketPlan::Create(BucketPlanOptions options) {
  if (!options.sym_gen) return absl::InvalidArgumentError("BucketPlan: sym_gen is required");
  if (options.buckets.empty()) return absl::InvalidArgumentError("BucketPlan: there is no bucket");
  if (options.compute.contexts.size() != 1 || !options.compute.group2ctxs.empty()) {
    return absl::UnimplementedError("BucketPlan: expected one context, and no group2ctxs");
  }
  BucketPlan plan(std::move(options));
  for (BucketShapes& shapes : plan.options_.buckets) {
    const BucketKey key = shapes.key;
    if (!plan.buckets_.emplace(key, Bucket{.shapes = std::move(shapes)}).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("BucketPlan: bucket key ", key.ToString(), " is listed twice"));
    }
  }
  plan.options_.buckets.clear();
  return plan;
}

absl::StatusOr<BucketPlan::Bucket*> BucketPlan::Find(const BucketKey& key) {
  const auto it = buckets_.find(key);
  if (it == buckets_.end()) {
    return absl::NotFoundError(absl::StrCat("BucketPlan: there is no bucket ", key.ToString()));
  }
  Bucket& bucket = it->second;
  if (bucket.module != nullptr) return &bucket;
  NameManager names;  // automatic names are the same for all keys
  COOPER_ASSIGN_OR_RETURN(const BucketSymbol generated,
                          CallWithKey("sym_gen", options_.sym_gen, key));
  // There is no default bucket, so every bucket keeps the names that are its arguments.
  COOPER_ASSIGN_OR_RETURN(
      bucket.module, Module::Create(generated.symbol, OptionsForBucket(generated, options_.compute,
                                                                       /*has_all_names=*/false)));
  return &bucket;
}

absl::StatusOr<BucketPlan::Sized> BucketPlan::Compile(Bucket& bucket, int64_t batch_size) const {
  ModuleBindOptions bind = options_.bind;
  bind.data_shapes = WithBatchSize(bucket.shapes.data_shapes, batch_size);
  bind.label_shapes = WithBatchSize(bucket.shapes.label_shapes, batch_size);
  COOPER_ASSIGN_OR_RETURN(const auto compiled, bucket.module->Compile(bind));
  const MemoryReport report = PlannedMemory(*compiled);
  Sized sized = {.bytes = {.arena = report.planned_bytes,
                           .lower_bound = report.lower_bound,
                           .inputs = BytesOf(bind.data_shapes) + BytesOf(bind.label_shapes)},
                 .flops = CountFlops(*compiled).total()};
  const Program& program = compiled->program();
  const std::vector<std::string>& params = bucket.module->param_names();
  const auto& grad_reqs = compiled->options().grad_reqs;
  for (size_t i = 0; i < program.arg_names.size(); ++i) {
    const std::string& name = program.arg_names[i];
    if (std::find(params.begin(), params.end(), name) == params.end()) continue;
    const auto req = grad_reqs.find(name);
    const bool has_gradient = req != grad_reqs.end() && req->second != WriteReq::kNull;
    sized.parameters[name] =
        BytesOf(compiled->arg_shapes()[i], compiled->arg_types()[i]) * (has_gradient ? 2 : 1);
  }
  for (size_t i = 0; i < program.aux_names.size(); ++i) {
    sized.parameters[program.aux_names[i]] =
        BytesOf(compiled->aux_shapes()[i], compiled->aux_types()[i]);
  }
  for (const auto& [name, bytes] : sized.parameters) sized.bytes.parameters += bytes;
  return sized;
}

absl::StatusOr<const BucketPlan::Sized*> BucketPlan::Plan(const BucketKey& key,
                                                          int64_t batch_size) {
  if (batch_size < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("BucketPlan: batch_size is ", batch_size, ", expected at least 1"));
  }
  const auto plan = [&]() -> absl::StatusOr<const Sized*> {
    COOPER_ASSIGN_OR_RETURN(Bucket * bucket, Find(key));
    const auto it = bucket->sizes.find(batch_size);
    if (it != bucket->sizes.end()) return &it->second;
    COOPER_ASSIGN_OR_RETURN(Sized sized, Compile(*bucket, batch_size));
    return &bucket->sizes.emplace(batch_size, std::move(sized)).first->second;
  };
  auto sized = plan();
  if (!sized.ok()) return AddContext(sized.status(), "bucket key ", key.ToString());
  return sized;
}

absl::StatusOr<BucketBytes> BucketPlan::Bytes(const BucketKey& key, int64_t batch_size) {
  COOPER_ASSIGN_OR_RETURN(const Sized* sized, Plan(key, batch_size));
  return sized->bytes;
}

absl::StatusOr<double> BucketPlan::Flops(const BucketKey& key, int64_t batch_size) {
  COOPER_ASSIGN_OR_RETURN(const Sized* sized, Plan(key, batch_size));
  return sized->flops;
}

absl::StatusOr<BucketBytes> BucketPlan::Bytes(absl::Span<const BucketSize> buckets) {
  BucketBytes all;
  std::map<std::string, int64_t> parameters;
  for (const auto& [key, batch_size] : buckets) {
    COOPER_ASSIGN_OR_RETURN(const Sized* sized, Plan(key, batch_size));
    all.arena = std::max(all.arena, sized->bytes.arena);
    all.lower_bound = std::max(all.lower_bound, sized->bytes.lower_bound);
    all.inputs = std::max(all.inputs, sized->bytes.inputs);
    parameters.insert(sized->parameters.begin(), sized->parameters.end());
  }
  for (const auto& [name, bytes] : parameters) all.parameters += bytes;
  return all;
}

absl::StatusOr<int64_t> BucketPlan::LargestBatch(const BucketKey& key, int64_t arena_bytes,
                                                 int64_t max_batch_size) {
  const auto bytes_of = [&](int64_t batch_size) -> absl::StatusOr<int64_t> {
    COOPER_ASSIGN_OR_RETURN(const BucketBytes bytes, Bytes(key, batch_size));
    return bytes.arena;
  };
  // Searches between a size that fits and one that does not. The bytes are nearly linear in the
  // batch size, so the next guess lies on a line; every fourth guess bisects, which bounds the
  // number of steps for any curve.
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() - 1;
  int64_t fits = 0, too_large = std::min(max_batch_size, kMax) + 1;
  double fitting_bytes = 0, large_bytes = 0;
  for (int64_t guess = 1, step = 0; too_large - fits > 1; ++step) {
    COOPER_ASSIGN_OR_RETURN(const int64_t bytes, bytes_of(guess));
    if (bytes <= arena_bytes) {
      fits = guess;
      fitting_bytes = static_cast<double>(bytes);
    } else {
      too_large = guess;
      large_bytes = static_cast<double>(bytes);
    }
    if (too_large == 1) return 0;
    // While only one end is known, the line goes through 0.
    const double slope = large_bytes > 0
                             ? (large_bytes - fitting_bytes) / static_cast<double>(too_large - fits)
                             : fitting_bytes / static_cast<double>(fits);
    const double room = static_cast<double>(arena_bytes) - fitting_bytes;
    const double reach = slope > 0 ? room / slope : static_cast<double>(max_batch_size);
    const int64_t next =
        step % 4 == 3
            ? fits + (too_large - fits) / 2
            : fits + static_cast<int64_t>(std::min(reach, static_cast<double>(max_batch_size)));
    guess = std::clamp(next, fits + 1, too_large - 1);
  }
  return fits;
}

absl::StatusOr<std::map<BucketKey, int64_t>> BucketPlan::LargestBatches(int64_t arena_bytes,
                                                                        int64_t max_batch_size) {
  std::map<BucketKey, int64_t> sizes;
  for (const auto& [key, bucket] : buckets_) {
    COOPER_ASSIGN_OR_RETURN(sizes[key], LargestBatch(key, arena_bytes, max_batch_size));
    if (sizes[key] > 0) continue;
    COOPER_ASSIGN_OR_RETURN(const BucketBytes one, Bytes(key, 1));
    return absl::ResourceExhaustedError(absl::StrCat("bucket key ", key.ToString(),
                                                     ": one sample takes ", one.arena,
                                                     " bytes of the arena, of ", arena_bytes));
  }
  return sizes;
}

}  // namespace cooper
