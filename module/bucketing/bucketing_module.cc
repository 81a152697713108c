#include "module/bucketing/bucketing_module.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "io/batch/call_with_key.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

// Builds the name only while profiling: it costs an allocation, and a step must not allocate.
std::string NameForProfile(const BucketKey& key) {
  return IsProfiling() ? absl::StrCat("bucket ", key.ToString()) : std::string();
}

}  // namespace

BucketingModule::BucketingModule(BucketingModuleOptions options)
    : sym_gen_(std::move(options.sym_gen)),
      default_key_(*std::move(options.default_bucket_key)),
      max_bound_buckets_(options.max_bound_buckets),
      max_bound_bytes_(options.max_bound_bytes),
      compute_(std::move(options.compute)),
      group_(std::make_shared<ModuleGroup>(compute_.contexts)) {}

absl::StatusOr<std::unique_ptr<BucketingModule>> BucketingModule::Create(
    BucketingModuleOptions options) {
  if (!options.sym_gen) {
    return absl::InvalidArgumentError("BucketingModule: sym_gen is required");
  }
  COOPER_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<BucketingModule> module(new BucketingModule(std::move(options)));
  COOPER_RETURN_IF_ERROR(module->GenerateDefault());
  return module;
}

absl::Status BucketingModule::GenerateDefault() {
  absl::StatusOr<BucketSymbol> generated = Generate(default_key_);
  if (!generated.ok()) return WithBucket(generated.status(), default_key_);
  default_symbol_ = *std::move(generated);
  return absl::OkStatus();
}

absl::Status BucketingModule::CheckOptions(const BucketingModuleOptions& options) {
  if (!options.default_bucket_key.has_value()) {
    return absl::InvalidArgumentError("BucketingModule: default_bucket_key is required");
  }
  if (options.compute.contexts.empty()) {
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

const Module* BucketingModule::active_module() const {
  const Bucket* active = evaluated_ != nullptr ? evaluated_ : current_;
  return active == nullptr ? nullptr : active->module.get();
}

absl::Status BucketingModule::SwitchBucket(const BucketKey& key,
                                           const std::vector<DataDesc>& data_shapes,
                                           const std::vector<DataDesc>& label_shapes) {
  COOPER_RETURN_IF_ERROR(RequireBound("SwitchBucket"));
  evaluated_ = nullptr;
  if (current_ != nullptr && *current_key_ == key) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(current_, FindOrBind(key, data_shapes, label_shapes));
  current_key_ = key;
  Evict(/*adds_one=*/false);
  return absl::OkStatus();
}

absl::StatusOr<Symbol> BucketingModule::symbol() const {
  return active_module() == nullptr ? default_symbol_.symbol : active_module()->symbol();
}

absl::StatusOr<BucketKey> BucketingModule::current_bucket_key() const {
  COOPER_RETURN_IF_ERROR(RequireBound("current_bucket_key"));
  return *current_key_;
}

absl::Status BucketingModule::UseBucketOf(const DataBatch& batch) {
  if (batch.bucket_key.has_value() && *batch.bucket_key != *current_key_) {
    // A bound bucket needs no descriptions; a new one is bound with the batch's.
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
  // Descriptions that the batch lacks are taken from the bucket bound for training, if there is
  // one.
  const Module* trained = bucket(key);
  const bool described =
      trained == nullptr || (!batch.provide_data.empty() &&
                             (!batch.provide_label.empty() || trained->label_shapes().empty()));
  // Copied, since binding may evict the bucket that was bound for training.
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
  Evict(/*adds_one=*/false);
  return WithBucket(evaluated_->module->Forward(batch, /*is_train=*/false), key);
}

absl::Status BucketingModule::Backward(absl::Span<const NDArray> head_gradients) {
  COOPER_RETURN_IF_ERROR(RequireParams("Backward"));
  return WithBucket(current_->module->Backward(head_gradients), *current_key_);
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
