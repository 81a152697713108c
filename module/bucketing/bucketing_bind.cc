// Makes, binds and prepares the buckets of a BucketingModule.

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "io/batch/call_with_key.h"
#include "module/bucketing/background_tasks.h"
#include "module/bucketing/bucketing_module.h"
#include "module/network/bind_errors.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/profiler.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

absl::Status BucketingModule::GenerateDefault() {
  absl::StatusOr<BucketSymbol> generated = Generate(default_key_);
  if (!generated.ok()) return WithBucket(generated.status(), default_key_);
  default_symbol_ = *std::move(generated);
  default_output_names_ = default_symbol_.symbol.ListOutputs();
  return absl::OkStatus();
}

absl::StatusOr<BucketSymbol> BucketingModule::Generate(const BucketKey& key) const {
  const auto loaded = loaded_symbols_.find(key);
  if (loaded != loaded_symbols_.end()) return loaded->second;
  if (!sym_gen_) {
    return absl::NotFoundError("there is no symbol for this key, and no sym_gen to make one");
  }
  const ScopedProfile profile(ProfileCategory::kStep, "sym_gen");
  // Automatic names start anew, so that they are the same for all keys.
  NameManager names;
  const std::string what =
      absl::StrCat("sym_gen (the default key is ", DescribeKey(default_key_), ")");
  COOPER_ASSIGN_OR_RETURN(BucketSymbol bucket, CallWithKey(what.c_str(), sym_gen_, key));
  COOPER_RETURN_IF_ERROR(bucket.symbol.status());
  return bucket;
}

BucketingModule::UnboundBucket BucketingModule::Make(const BucketKey& key) const {
  const Clock::time_point start = Clock::now();
  UnboundBucket unbound;
  const bool is_first_bind = !binded_ && key == default_key_;
  auto generated = is_first_bind ? absl::StatusOr<BucketSymbol>(default_symbol_) : Generate(key);
  if (generated.ok()) {
    unbound.generated = *std::move(generated);
    ModuleOptions options =
        OptionsForBucket(unbound.generated, compute_, /*has_all_names=*/key == default_key_);
    options.group = group_;
    unbound.module = Module::Create(unbound.generated.symbol, std::move(options));
  } else {
    unbound.module = generated.status();
  }
  unbound.seconds = SecondsSince(start);
  return unbound;
}

ModuleBindOptions BucketingModule::BindOptionsFor(const std::vector<DataDesc>& data_shapes,
                                                  const std::vector<DataDesc>& label_shapes,
                                                  Purpose purpose) const {
  ModuleBindOptions bind = bind_options_;
  if (purpose == Purpose::kEvaluation) {
    bind.for_training = false;
    bind.inputs_need_grad = false;
  }
  bind.data_shapes = data_shapes;
  bind.label_shapes = label_shapes;
  bind.force_rebind = false;
  return bind;
}

std::map<BucketKey, BucketingModule::UnboundBucket> BucketingModule::CompileBuckets(
    absl::Span<const BucketShapes> buckets) const {
  std::map<BucketKey, UnboundBucket> precompiled;
  const int threads = std::min(NumThreads(), static_cast<int>(buckets.size()));
  if (threads == 1 || group_->num_contexts() > 1 || !compute_.group2ctxs.empty())
    return precompiled;
  // The group must not change before Finish, because the tasks read its arrays.
  BackgroundTasks tasks(threads);
  for (const BucketShapes& shapes : buckets) {
    if (buckets_.all(Purpose::kBound).contains(shapes.key) || precompiled.contains(shapes.key))
      continue;
    if (shapes.data_shapes.empty()) break;
    UnboundBucket& unbound = precompiled[shapes.key];
    unbound = Make(shapes.key);
    if (!unbound.module.ok()) break;  // the buckets after it will not be bound
    tasks.Add([this, &unbound, &shapes] {
      const Clock::time_point start = Clock::now();
      auto compiled =
          (*unbound.module)
              ->Compile(BindOptionsFor(shapes.data_shapes, shapes.label_shapes, Purpose::kBound));
      // Bind finds errors again, and reports them.
      if (compiled.ok()) unbound.compiled = *std::move(compiled);
      unbound.seconds += SecondsSince(start);
    });
  }
  tasks.Finish();
  return precompiled;
}

absl::StatusOr<BoundBuckets::Bucket*> BucketingModule::FindOrBind(
    const BucketKey& key, const std::vector<DataDesc>& data_shapes,
    const std::vector<DataDesc>& label_shapes, Purpose purpose,
    std::map<BucketKey, UnboundBucket>* precompiled) {
  if (BoundBuckets::Bucket* const bound = buckets_.Find(purpose, key)) {
    buckets_.MarkUsed(*bound);
    return bound;
  }
  if (data_shapes.empty()) {
    return WithBucket(
        absl::InvalidArgumentError(
            "the bucket is not bound yet, and there is no provide_data to bind it with"),
        key);
  }
  auto node = precompiled == nullptr ? std::map<BucketKey, UnboundBucket>::node_type()
                                     : precompiled->extract(key);
  UnboundBucket unbound = node.empty() ? Make(key) : std::move(node.mapped());
  const Clock::time_point start = Clock::now();
  if (!unbound.module.ok()) return WithBucket(unbound.module.status(), key);
  const std::unique_ptr<Module>& module = *unbound.module;
  buckets_.MakeRoom();  // before the new bucket is bound
  ModuleBindOptions bind = BindOptionsFor(data_shapes, label_shapes, purpose);
  bind.compiled = std::move(unbound.compiled);
  absl::Status bound = module->Bind(bind);
  if (!bound.ok()) {
    const Symbol& symbol = unbound.generated.symbol;
    return WithBucket(
        ExplainSharedShapes(
            bound, symbol, ShapesOfInputs(symbol.ListArguments(), data_shapes, label_shapes),
            group_->parameters(), [this](const std::string& name) { return OwnerOf(name); }),
        key);
  }
  if (monitor_) COOPER_RETURN_IF_ERROR(module->InstallMonitor(monitor_, monitor_all_));
  buckets_.MakeRoom(module->footprint_bytes());
  group_->AddBucket(key);
  were_bound_.insert(key);
  return buckets_.Add(purpose, key,
                      {.module = *std::move(unbound.module),
                       .bind_seconds = unbound.seconds + SecondsSince(start)});
}

std::string BucketingModule::OwnerOf(const std::string& parameter) const {
  const auto& bound = buckets_.all(Purpose::kBound);
  const auto has = [&](const BoundBuckets::Bucket& bucket) {
    const absl::StatusOr<Symbol> symbol = bucket.module->symbol();
    return symbol.ok() && absl::c_linear_search(symbol->ListInputs(), parameter);
  };
  const auto found = bound.find(default_key_);
  if (found != bound.end() && has(found->second)) {
    return absl::StrCat("the default bucket key ", default_key_.ToString());
  }
  for (const auto& [key, bucket] : bound) {
    if (has(bucket)) return absl::StrCat("bucket key ", key.ToString());
  }
  return "the parameters that the module has";
}

absl::Status BucketingModule::Bind(const ModuleBindOptions& options) {
  if (binded_ && !options.force_rebind) return CheckSameBinding(bind_options_, options);
  if (options.bucket_key.has_value() && *options.bucket_key != default_key_) {
    return absl::InvalidArgumentError(
        absl::StrCat("Bind: the module's default_bucket_key is ", DescribeKey(default_key_),
                     ", but the shapes are those of ", DescribeKey(*options.bucket_key),
                     ", the iterator's default: create the module with .default_bucket_key = "
                     "iterator->default_bucket_key()"));
  }
  if (options.shared_module != nullptr) {
    return absl::UnimplementedError("Bind: a BucketingModule takes no shared_module");
  }
  // Keep the bound state, to put it back if Bind fails.
  BoundBuckets buckets =
      std::exchange(buckets_, BoundBuckets(max_bound_buckets_, max_bound_bytes_));
  std::set<BucketKey> were_bound = were_bound_;
  const ModuleBindOptions previous = std::exchange(bind_options_, KeptOptions(options));
  absl::Status status = BindDefault(options);
  if (status.ok()) return status;
  buckets_ = std::move(buckets);
  were_bound_ = std::move(were_bound);
  bind_options_ = previous;
  return status;
}

absl::Status BucketingModule::BindDefault(const ModuleBindOptions& options) {
  Parameters& parameters = group_->parameters();
  Parameters::Rollback rollback(parameters);
  // Arrays without values may get other shapes, and so may states, whose shapes depend on the batch
  // size.
  if (!params_initialized()) {
    parameters.DropArrays();
    were_bound_.clear();
  }
  parameters.DropStates(compute_.state_names);
  COOPER_ASSIGN_OR_RETURN(BoundBuckets::Bucket * bucket,
                          FindOrBind(default_key_, options.data_shapes, options.label_shapes));
  COOPER_RETURN_IF_ERROR(group_->learner().ZeroGrads());
  rollback.Commit();
  if (options.seed.has_value()) group_->devices().SetSeed(*options.seed);
  buckets_.SetCurrent(bucket);
  current_key_ = default_key_;
  binded_ = true;
  default_symbol_.symbol = Symbol();  // else it would outlive an evicted default bucket
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BucketReport>> BucketingModule::PrepareAll(
    absl::Span<const BucketShapes> buckets) {
  COOPER_RETURN_IF_ERROR(RequireBound("PrepareAll"));
  std::vector<BucketReport> reports;
  // Create at most as many buckets ahead as may stay bound.
  const size_t at_a_time =
      max_bound_buckets_ > 0 ? max_bound_buckets_ : std::max<size_t>(1, buckets.size());
  for (size_t begin = 0; begin < buckets.size(); begin += at_a_time) {
    const absl::Span<const BucketShapes> group = buckets.subspan(begin, at_a_time);
    std::map<BucketKey, UnboundBucket> precompiled = CompileBuckets(group);
    for (const BucketShapes& shapes : group) {
      COOPER_ASSIGN_OR_RETURN(const BoundBuckets::Bucket* bucket,
                              FindOrBind(shapes.key, shapes.data_shapes, shapes.label_shapes,
                                         Purpose::kBound, &precompiled));
      reports.push_back({.key = shapes.key,
                         .memory = bucket->module->memory(),
                         .footprint_bytes = bucket->module->footprint_bytes(),
                         .bind_seconds = bucket->bind_seconds});
    }
  }
  return reports;
}

absl::Status BucketingModule::Prepare(const DataBatch& batch) {
  COOPER_RETURN_IF_ERROR(RequireBound("Prepare"));
  if (!batch.bucket_key.has_value()) return absl::OkStatus();
  return FindOrBind(*batch.bucket_key, batch.provide_data, batch.provide_label).status();
}

}  // namespace cooper
