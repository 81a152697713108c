#include "module/bucketing/bucketing_module.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "module/bucketing/bucket_files.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

// Builds the name only while profiling: it costs an allocation, and a step must not allocate.
std::string NameForProfile(const BucketKey& key) {
  return IsProfiling() ? absl::StrCat("bucket ", key.ToString()) : std::string();
}

// Adds the arrays of `names` that are in `waiting` to `arrays`, sharing their memory.
void AddNamed(const std::vector<std::string>& names, const ArrayMap& waiting, ArrayMap* arrays) {
  for (const std::string& name : names) {
    const auto it = waiting.find(name);
    if (it != waiting.end()) arrays->insert(*it);
  }
}

absl::Status CopyAll(const ArrayMap& arrays, ArrayMap* copies) {
  for (const auto& [name, array] : arrays) {
    COOPER_ASSIGN_OR_RETURN((*copies)[name], array.CopyTo(Context::Cpu()));
  }
  return absl::OkStatus();
}

}  // namespace

BucketingModule::BucketingModule(BucketingModuleOptions options)
    : sym_gen_(std::move(options.sym_gen)),
      default_key_(*std::move(options.default_bucket_key)),
      max_bound_buckets_(options.max_bound_buckets),
      max_bound_bytes_(options.max_bound_bytes),
      compute_(std::move(options.compute)),
      group_(std::make_shared<ModuleGroup>(compute_.contexts)),
      buckets_(max_bound_buckets_, max_bound_bytes_) {}

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

absl::Status BucketingModule::SwitchBucket(const BucketKey& key,
                                           const std::vector<DataDesc>& data_shapes,
                                           const std::vector<DataDesc>& label_shapes) {
  COOPER_RETURN_IF_ERROR(RequireBound("SwitchBucket"));
  buckets_.SetEvaluated(nullptr);
  if (buckets_.current() != nullptr && *current_key_ == key) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(BoundBuckets::Bucket * bucket,
                          FindOrBind(key, data_shapes, label_shapes));
  buckets_.SetCurrent(bucket);
  current_key_ = key;
  buckets_.Evict();
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
  buckets_.SetEvaluated(nullptr);
  buckets_.MarkUsed(*buckets_.current());
  return absl::OkStatus();
}

absl::Status BucketingModule::Forward(const DataBatch& batch, std::optional<bool> is_train) {
  COOPER_RETURN_IF_ERROR(RequireParams("Forward"));
  const std::string name = NameForProfile(batch.bucket_key.value_or(*current_key_));
  const ScopedProfile profile(ProfileCategory::kBucket, name);
  COOPER_RETURN_IF_ERROR(UseBucketOf(batch));
  return WithBucket(buckets_.current()->module->Forward(batch, is_train), *current_key_);
}

absl::Status BucketingModule::ForwardToEvaluate(const DataBatch& batch) {
  if (!for_training()) return Forward(batch, /*is_train=*/false);
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
  buckets_.SetEvaluated(nullptr);
  COOPER_ASSIGN_OR_RETURN(
      BoundBuckets::Bucket * evaluated,
      FindOrBind(key, described ? batch.provide_data : data,
                 described ? batch.provide_label : label, Purpose::kEvaluation));
  buckets_.SetEvaluated(evaluated);
  buckets_.Evict();
  return WithBucket(evaluated->module->Forward(batch, /*is_train=*/false), key);
}

absl::Status BucketingModule::Backward(absl::Span<const NDArray> head_gradients) {
  COOPER_RETURN_IF_ERROR(RequireParams("Backward"));
  return WithBucket(buckets_.current()->module->Backward(head_gradients), *current_key_);
}

absl::Status BucketingModule::InstallMonitor(Executor::MonitorCallback callback, bool monitor_all) {
  COOPER_RETURN_IF_ERROR(RequireBound("InstallMonitor"));
  monitor_ = std::move(callback);
  monitor_all_ = monitor_all;
  return buckets_.Each(
      [this](Module& module) { return module.InstallMonitor(monitor_, monitor_all_); });
}

ModuleDescription BucketingModule::description() const {
  // The members of the default-constructed options are empty.
  static const auto* const none = new ModuleBindOptions;
  static const auto* const no_shapes = new std::vector<Shape>;
  const Module* const active = active_module();
  const ModuleDescription of = active != nullptr
                                   ? active->description()
                                   : ModuleDescription{.data_names = default_symbol_.data_names,
                                                       .label_names = default_symbol_.label_names,
                                                       .output_names = default_output_names_,
                                                       .data_shapes = none->data_shapes,
                                                       .label_shapes = none->label_shapes,
                                                       .output_shapes = *no_shapes};
  return {of.data_names,   of.label_names,   of.output_names, of.data_shapes,
          of.label_shapes, of.output_shapes, &default_key_};
}

std::vector<BatchLayout> BucketingModule::output_layouts() const {
  return active_module() == nullptr ? std::vector<BatchLayout>()
                                    : active_module()->output_layouts();
}

absl::Status BucketingModule::InitParams(const InitParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("InitParams"));
  return group_->parameters().Init(options);
}

absl::Status BucketingModule::SetParams(const ArrayMap& arg_params, const ArrayMap& aux_params,
                                        const SetParamsOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireBound("SetParams"));
  Parameters& parameters = group_->parameters();
  // Set then changes nothing and logs a warning.
  if (params_initialized() && !options.force_init) {
    return parameters.Set(arg_params, aux_params, options);
  }
  SetParamsOptions checked = options;
  if (options.allow_missing && !options.allow_extra) {
    COOPER_RETURN_IF_ERROR(CheckKnown(arg_params, aux_params));
    checked.allow_extra = true;
  }
  return parameters.Set(arg_params, aux_params, checked);
}

absl::Status BucketingModule::CheckFinite() {
  COOPER_RETURN_IF_ERROR(RequireBound("CheckFinite"));
  return buckets_.current()->module->CheckFinite();
}

absl::Status BucketingModule::InitOptimizer(const InitOptimizerOptions& options) {
  COOPER_RETURN_IF_ERROR(RequireParams("InitOptimizer"));
  return group_->InitOptimizer(options, BatchSizeOf(bind_options_.data_shapes),
                               compute_.compression_params);
}

absl::Status BucketingModule::TrainStep(const DataBatch& batch, const StepOptions& options) {
  if (IsProfiling()) return BaseModule::TrainStep(batch, options);
  COOPER_RETURN_IF_ERROR(options.update ? RequireOptimizer("TrainStep") : RequireParams("Forward"));
  COOPER_RETURN_IF_ERROR(UseBucketOf(batch));
  return WithBucket(buckets_.current()->module->TrainStep(batch, options), *current_key_);
}

absl::Status BucketingModule::Update() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("Update"));
  return buckets_.current()->module->Update();
}

absl::StatusOr<absl::Span<const NDArray>> BucketingModule::GetOutputs() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetOutputs"));
  return active_module()->GetOutputs();
}

absl::StatusOr<std::vector<NDArray>> BucketingModule::GetInputGrads() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetInputGrads"));
  return buckets_.current()->module->GetInputGrads();
}

absl::StatusOr<NDArray> BucketingModule::GetGrad(const std::string& name) const {
  COOPER_RETURN_IF_ERROR(RequireBound("GetGrad"));
  return buckets_.current()->module->GetGrad(name);
}

absl::Status BucketingModule::UpdateMetric(EvalMetric& metric, absl::Span<const NDArray> labels) {
  COOPER_RETURN_IF_ERROR(RequireParams("UpdateMetric"));
  return active_module()->UpdateMetric(metric, labels);
}

absl::StatusOr<std::vector<NDArray>> BucketingModule::GetStates() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetStates"));
  return buckets_.current()->module->GetStates();
}

absl::Status BucketingModule::SetStates(absl::Span<const NDArray> states) {
  COOPER_RETURN_IF_ERROR(RequireParams("SetStates"));
  return buckets_.current()->module->SetStates(states);
}

absl::Status BucketingModule::SetStates(double value) {
  COOPER_RETURN_IF_ERROR(RequireParams("SetStates"));
  return buckets_.current()->module->SetStates(value);
}

absl::StatusOr<ModuleParams> BucketingModule::Waiting() const {
  const ArrayMap& args = group_->parameters().waiting(ParameterKind::kArg);
  const ArrayMap& auxs = group_->parameters().waiting(ParameterKind::kAux);
  ModuleParams waiting;
  if (args.empty() && auxs.empty()) return waiting;
  std::set<BucketKey> keys = group_->buckets();
  for (const auto& [key, bucket] : loaded_symbols_) keys.insert(key);
  for (const BucketKey& key : keys) {
    if (were_bound_.contains(key)) continue;
    if (!sym_gen_ && !loaded_symbols_.contains(key)) continue;  // it cannot be bound
    auto generated = Generate(key);
    if (!generated.ok()) return WithBucket(generated.status(), key);
    const VariableNames names = generated->symbol.ListVariables();
    AddNamed(names.args, args, &waiting.args);
    AddNamed(names.auxs, auxs, &waiting.auxs);
  }
  return waiting;
}

absl::Status BucketingModule::CheckKnown(const ArrayMap& arg_params,
                                         const ArrayMap& aux_params) const {
  const Parameters& parameters = group_->parameters();
  COOPER_ASSIGN_OR_RETURN(const ModuleParams waiting, Waiting());
  const auto check = [&](ParameterKind kind, const ArrayMap& given, const ArrayMap& known) {
    for (const auto& [name, array] : given) {
      if (!parameters.Value(kind, name).is_null() || known.contains(name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("SetParams: the module has no parameter '", name, "'"));
    }
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(check(ParameterKind::kArg, arg_params, waiting.args));
  return check(ParameterKind::kAux, aux_params, waiting.auxs);
}

absl::StatusOr<ModuleParams> BucketingModule::GetParams() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetParams"));
  const Parameters& parameters = group_->parameters();
  COOPER_ASSIGN_OR_RETURN(ModuleParams params,
                          parameters.Means(parameters.Names(ParameterKind::kArg),
                                           parameters.Names(ParameterKind::kAux)));
  COOPER_ASSIGN_OR_RETURN(const ModuleParams waiting, Waiting());
  COOPER_RETURN_IF_ERROR(CopyAll(waiting.args, &params.args));
  COOPER_RETURN_IF_ERROR(CopyAll(waiting.auxs, &params.auxs));
  return params;
}

absl::Status BucketingModule::SaveCheckpoint(const std::string& prefix, int epoch,
                                             bool save_optimizer_states) const {
  if (save_optimizer_states) COOPER_RETURN_IF_ERROR(RequireOptimizer("SaveCheckpoint"));
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, GetParams());
  std::map<BucketKey, Symbol> symbols;
  for (const auto& [key, bucket] : buckets_.all(Purpose::kBound)) {
    COOPER_ASSIGN_OR_RETURN(symbols[key], bucket.module->symbol());
  }
  for (const auto& [key, bucket] : loaded_symbols_) symbols.emplace(key, bucket.symbol);
  // Buckets that were evicted, or that only an earlier run has bound, are generated again: kept
  // symbols would take memory that no limit bounds.
  for (const BucketKey& key : group_->buckets()) {
    if (symbols.contains(key)) continue;
    auto generated = Generate(key);
    if (!generated.ok()) return WithBucket(generated.status(), key);
    symbols.emplace(key, generated->symbol);
  }
  COOPER_RETURN_IF_ERROR(SaveBucketSymbols(prefix, symbols));
  COOPER_RETURN_IF_ERROR(
      SaveParamsFile(ParamsPath(prefix, epoch), params.args, params.auxs, params.format));
  if (!save_optimizer_states) return absl::OkStatus();
  return group_->learner().SaveOptimizerStates(StatesPath(prefix, epoch));
}

absl::StatusOr<std::unique_ptr<BucketingModule>> BucketingModule::Load(
    const std::string& prefix, int epoch, BucketingModuleOptions options,
    bool load_optimizer_states) {
  absl::StatusOr<std::vector<BucketKey>> keys = LoadBucketKeys(prefix);
  if (absl::IsNotFound(keys.status()) && options.sym_gen && options.default_bucket_key) {
    keys.emplace();  // sym_gen makes them all
  }
  COOPER_RETURN_IF_ERROR(keys.status());
  COOPER_ASSIGN_OR_RETURN(auto symbols,
                          LoadBucketSymbols(prefix, *keys, options.compute.load_limits));
  ModuleParams params;
  COOPER_RETURN_IF_ERROR(
      LoadParamsFile(ParamsPath(prefix, epoch), &params.args, &params.auxs, &params.format));
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<BucketingModule> module,
                          LoadDict(std::move(symbols), std::move(options), params));
  if (load_optimizer_states) {
    module->group_->learner().LoadOptimizerStatesLater(StatesPath(prefix, epoch));
  }
  return module;
}

absl::StatusOr<std::unique_ptr<BucketingModule>> BucketingModule::LoadDict(
    std::map<BucketKey, BucketSymbol> symbols, BucketingModuleOptions options,
    const ModuleParams& params) {
  if (!options.default_bucket_key.has_value() && !symbols.empty()) {
    options.default_bucket_key = symbols.rbegin()->first;
  }
  COOPER_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<BucketingModule> module(new BucketingModule(std::move(options)));
  for (auto& [key, bucket] : symbols) {
    if (!module->sym_gen_) continue;
    auto generated = module->Generate(key);
    if (!generated.ok()) return module->WithBucket(generated.status(), key);
    bucket.data_names = generated->data_names;
    bucket.label_names = generated->label_names;
  }
  module->loaded_symbols_ = std::move(symbols);
  COOPER_RETURN_IF_ERROR(module->GenerateDefault());
  // Parameters that only other buckets have wait in Parameters until these are bound.
  module->group_->parameters().Load(params);
  return module;
}

}  // namespace cooper
