#include "module/bucketing_module.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "io/call_with_key.h"
#include "module/background_tasks.h"
#include "ndarray/parallel.h"
#include "ndarray/profiler.h"
#include "ndarray/status_macros.h"
#include "symbol/name_manager.h"

namespace cooper {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A name costs an allocation, which a step must not have.
std::string NameForProfile(const BucketKey& key) {
  return IsProfiling() ? absl::StrCat("bucket ", key.ToString()) : std::string();
}

}  // namespace

BucketingModule::BucketingModule(BucketingModuleOptions options)
    : sym_gen_(std::move(options.sym_gen)),
      default_key_(*std::move(options.default_bucket_key)),
      max_bound_buckets_(options.max_bound_buckets),
      max_bound_bytes_(options.max_bound_bytes),
      group_(std::make_shared<ModuleGroup>(options.contexts)),
      module_options_({.contexts = std::move(options.contexts),
                       .work_load_list = std::move(options.work_load_list),
                       .group2ctxs = std::move(options.group2ctxs),
                       .fallback = options.fallback,
                       .compression_params = std::move(options.compression_params),
                       .fixed_param_names = std::move(options.fixed_param_names),
                       .state_names = std::move(options.state_names),
                       .disabled_passes = std::move(options.disabled_passes),
                       .label_probabilities = options.label_probabilities,
                       .group = group_}) {}

absl::StatusOr<std::unique_ptr<BucketingModule>> BucketingModule::Create(
    BucketingModuleOptions options) {
  if (!options.sym_gen) {
    return absl::InvalidArgumentError("BucketingModule: sym_gen is required");
  }
  COOPER_RETURN_IF_ERROR(CheckOptions(options));
  return std::unique_ptr<BucketingModule>(new BucketingModule(std::move(options)));
}

absl::Status BucketingModule::CheckOptions(const BucketingModuleOptions& options) {
  if (!options.default_bucket_key.has_value()) {
    return absl::InvalidArgumentError("BucketingModule: default_bucket_key is required");
  }
  if (options.contexts.empty()) {
    return absl::InvalidArgumentError("BucketingModule: contexts is empty");
  }
  return absl::OkStatus();
}

absl::Status BucketingModule::WithBucket(const absl::Status& status, const BucketKey& key) const {
  return status.ok() ? status : AddContext(status, "bucket key ", key.ToString());
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

const Module* BucketingModule::shown_module() const {
  const Bucket* shown = evaluated_ != nullptr ? evaluated_ : current_;
  return shown == nullptr ? nullptr : shown->module.get();
}

BucketingModule::Made BucketingModule::Make(const BucketKey& key) const {
  const Clock::time_point start = Clock::now();
  Made made;
  if (auto generated = Generate(key); generated.ok()) {
    made.generated = *std::move(generated);
    ModuleOptions options = module_options_;
    options.data_names = made.generated.data_names;
    options.label_names = made.generated.label_names;
    if (key != default_key_) {
      KeepArguments(made.generated.symbol, &options.fixed_param_names);
      KeepArguments(made.generated.symbol, &options.state_names);
    }
    made.module = Module::Create(made.generated.symbol, std::move(options));
  } else {
    made.module = generated.status();
  }
  made.seconds = SecondsSince(start);
  return made;
}

ModuleBindOptions BucketingModule::BindOptionsFor(const std::vector<DataDesc>& data_shapes,
                                                  const std::vector<DataDesc>& label_shapes,
                                                  bool evaluation) const {
  ModuleBindOptions bind = bind_options_;
  if (evaluation) {
    bind.for_training = false;
    bind.inputs_need_grad = false;
  }
  bind.data_shapes = data_shapes;
  bind.label_shapes = label_shapes;
  bind.force_rebind = false;
  bind.seed.reset();  // a further bucket continues the stream
  return bind;
}

std::map<BucketKey, BucketingModule::Made> BucketingModule::MakeAhead(
    absl::Span<const BucketShapes> buckets) const {
  std::map<BucketKey, Made> ahead;
  const int threads = std::min(NumThreads(), static_cast<int>(buckets.size()));
  if (threads == 1 || group_->num_contexts() > 1 || !module_options_.group2ctxs.empty())
    return ahead;
  // Until Finish nothing changes the group, at whose arrays the tasks look.
  BackgroundTasks tasks(threads);
  for (const BucketShapes& shapes : buckets) {
    if (buckets_.contains(shapes.key) || ahead.contains(shapes.key)) continue;
    if (shapes.data_shapes.empty()) break;
    Made& made = ahead[shapes.key];
    made = Make(shapes.key);
    if (!made.module.ok()) break;  // what comes after it will not be bound
    tasks.Add([this, &made, &shapes] {
      const Clock::time_point start = Clock::now();
      (*made.module)->CompileAhead(BindOptionsFor(shapes.data_shapes, shapes.label_shapes));
      made.seconds += SecondsSince(start);
    });
  }
  tasks.Finish();
  return ahead;
}

absl::StatusOr<BucketingModule::Bucket*> BucketingModule::FindOrBind(
    const BucketKey& key, const std::vector<DataDesc>& data_shapes,
    const std::vector<DataDesc>& label_shapes, std::map<BucketKey, Made>* ahead) {
  return FindOrBindIn(buckets_, key, data_shapes, label_shapes, ahead);
}

absl::StatusOr<BucketingModule::Bucket*> BucketingModule::FindOrBindIn(
    Buckets& buckets, const BucketKey& key, const std::vector<DataDesc>& data_shapes,
    const std::vector<DataDesc>& label_shapes, std::map<BucketKey, Made>* ahead) {
  const auto it = buckets.find(key);
  if (it != buckets.end()) {
    it->second.last_use = ++uses_;
    return &it->second;
  }
  if (data_shapes.empty()) {
    return WithBucket(
        absl::InvalidArgumentError(
            "the bucket is not bound yet, and there is no provide_data to bind it with"),
        key);
  }
  auto node = ahead == nullptr ? std::map<BucketKey, Made>::node_type() : ahead->extract(key);
  Made made = node.empty() ? Make(key) : std::move(node.mapped());
  const Clock::time_point start = Clock::now();
  if (!made.module.ok()) return WithBucket(made.module.status(), key);
  const std::unique_ptr<Module>& module = *made.module;
  Evict(/*one_comes=*/true);  // before there is another one
  const bool evaluation = &buckets == &evaluation_buckets_;
  COOPER_RETURN_IF_ERROR(
      WithBucket(module->Bind(BindOptionsFor(data_shapes, label_shapes, evaluation)), key));
  if (monitor_) COOPER_RETURN_IF_ERROR(module->InstallMonitor(monitor_, monitor_all_));
  Evict(/*one_comes=*/true, module->held_bytes());
  group_->AddBucket(key);
  were_bound_.insert(key);
  Bucket& bucket = buckets[key];
  bucket.module = *std::move(made.module);
  bucket.last_use = ++uses_;
  bucket.bind_seconds = made.seconds + SecondsSince(start);
  return &bucket;
}

absl::Status BucketingModule::Bind(const ModuleBindOptions& options) {
  if (binded_ && !options.force_rebind) return StayBound(bind_options_, options);
  if (options.shared_module != nullptr) {
    return absl::UnimplementedError("Bind: a BucketingModule takes no shared_module");
  }
  buckets_.clear();
  evaluation_buckets_.clear();
  evaluated_ = nullptr;
  current_ = nullptr;
  current_key_.reset();
  binded_ = false;
  ParameterStore& parameters = group_->parameters();
  ParameterStore::Rollback rollback(parameters);
  // Arrays without values may get other shapes, and so may states, which are as large as a batch.
  if (!params_initialized()) {
    parameters.DropArrays();
    were_bound_.clear();
  }
  parameters.DropStates(module_options_.state_names);
  bind_options_ = options;
  COOPER_ASSIGN_OR_RETURN(Bucket * bucket,
                          FindOrBind(default_key_, options.data_shapes, options.label_shapes));
  COOPER_RETURN_IF_ERROR(parameters.ZeroGrads());
  rollback.Commit();
  if (options.seed.has_value()) group_->devices().SetSeed(*options.seed);
  current_ = bucket;
  current_key_ = default_key_;
  binded_ = true;
  for_training_ = options.for_training;
  inputs_need_grad_ = options.inputs_need_grad;
  grad_req_ = options.grad_req;
  return absl::OkStatus();
}

absl::Status BucketingModule::SwitchBucket(const BucketKey& key,
                                           const std::vector<DataDesc>& data_shapes,
                                           const std::vector<DataDesc>& label_shapes) {
  COOPER_RETURN_IF_ERROR(RequireBound("SwitchBucket"));
  evaluated_ = nullptr;
  if (current_ != nullptr && *current_key_ == key) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(current_, FindOrBind(key, data_shapes, label_shapes));
  current_key_ = key;
  Evict(/*one_comes=*/false);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BucketReport>> BucketingModule::PrepareAll(
    absl::Span<const BucketShapes> buckets) {
  COOPER_RETURN_IF_ERROR(RequireBound("PrepareAll"));
  std::vector<BucketReport> reports;
  // No more of them are made ahead than may stay bound.
  const size_t at_a_time =
      max_bound_buckets_ > 0 ? max_bound_buckets_ : std::max<size_t>(1, buckets.size());
  for (size_t begin = 0; begin < buckets.size(); begin += at_a_time) {
    const absl::Span<const BucketShapes> group = buckets.subspan(begin, at_a_time);
    std::map<BucketKey, Made> ahead = MakeAhead(group);
    for (const BucketShapes& shapes : group) {
      COOPER_ASSIGN_OR_RETURN(const Bucket* bucket, FindOrBind(shapes.key, shapes.data_shapes,
                                                               shapes.label_shapes, &ahead));
      reports.push_back({.key = shapes.key,
                         .memory = bucket->module->memory(),
                         .held_bytes = bucket->module->held_bytes(),
                         .bind_seconds = bucket->bind_seconds});
    }
  }
  return reports;
}

absl::StatusOr<Symbol> BucketingModule::symbol() const {
  if (shown_module() != nullptr) return shown_module()->symbol();
  COOPER_ASSIGN_OR_RETURN(BucketSymbol generated, Generate(default_key_));
  return generated.symbol;
}

absl::StatusOr<BucketKey> BucketingModule::current_bucket_key() const {
  COOPER_RETURN_IF_ERROR(RequireBound("current_bucket_key"));
  return *current_key_;
}

absl::Status BucketingModule::UseBucketOf(const DataBatch& batch) {
  if (batch.bucket_key.has_value() && *batch.bucket_key != *current_key_) {
    // A known bucket needs no descriptions; those of a new one are the batch's.
    COOPER_RETURN_IF_ERROR(
        SwitchBucket(*batch.bucket_key, batch.provide_data, batch.provide_label));
  }
  evaluated_ = nullptr;
  current_->last_use = ++uses_;
  return absl::OkStatus();
}

absl::Status BucketingModule::Forward(const DataBatch& batch, std::optional<bool> is_train) {
  COOPER_RETURN_IF_ERROR(RequireParams("Forward"));
  const std::string name = NameForProfile(batch.bucket_key.value_or(*current_key_));
  const ScopedProfile profile(ProfileCategory::kBucket, name);
  COOPER_RETURN_IF_ERROR(UseBucketOf(batch));
  return WithBucket(current_->module->Forward(batch, is_train), *current_key_);
}

absl::Status BucketingModule::ForwardToEvaluate(const DataBatch& batch) {
  if (!for_training_) return Forward(batch, /*is_train=*/false);
  COOPER_RETURN_IF_ERROR(RequireParams("Forward"));
  const BucketKey key = batch.bucket_key.value_or(*current_key_);
  const std::string name = NameForProfile(key);
  const ScopedProfile profile(ProfileCategory::kBucket, name);
  // What the batch does not describe is as it was bound for training, if it was.
  const Module* trained = bucket(key);
  const bool described =
      trained == nullptr || (!batch.provide_data.empty() &&
                             (!batch.provide_label.empty() || trained->label_shapes().empty()));
  // Copied, since binding the bucket may let go of the one that was trained.
  std::vector<DataDesc> data, label;
  if (!described) {
    data = trained->data_shapes();
    label = trained->label_shapes();
  }
  evaluated_ = nullptr;
  COOPER_ASSIGN_OR_RETURN(
      Bucket * evaluated,
      FindOrBindIn(evaluation_buckets_, key, described ? batch.provide_data : data,
                   described ? batch.provide_label : label, nullptr));
  evaluated_ = evaluated;
  Evict(/*one_comes=*/false);
  return WithBucket(evaluated_->module->Forward(batch, /*is_train=*/false), key);
}

absl::Status BucketingModule::Backward(absl::Span<const NDArray> head_gradients) {
  COOPER_RETURN_IF_ERROR(RequireParams("Backward"));
  return WithBucket(current_->module->Backward(head_gradients), *current_key_);
}

absl::Status BucketingModule::Prepare(const DataBatch& batch) {
  COOPER_RETURN_IF_ERROR(RequireBound("Prepare"));
  if (!batch.bucket_key.has_value()) return absl::OkStatus();
  return FindOrBind(*batch.bucket_key, batch.provide_data, batch.provide_label).status();
}

absl::Status BucketingModule::InstallMonitor(Executor::MonitorCallback callback, bool monitor_all) {
  COOPER_RETURN_IF_ERROR(RequireBound("InstallMonitor"));
  monitor_ = std::move(callback);
  monitor_all_ = monitor_all;
  for (const Buckets* buckets : {&buckets_, &evaluation_buckets_}) {
    for (const auto& [key, bucket] : *buckets) {
      COOPER_RETURN_IF_ERROR(bucket.module->InstallMonitor(monitor_, monitor_all_));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
