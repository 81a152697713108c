#include "tests/conformance/module_script.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/create_initializer.h"
#include "module/network/module.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/disabled_passes.h"
#include "tests/conformance/module_data.h"
#include "tests/conformance/module_maker.h"

namespace cooper::conformance {
namespace {

constexpr Tolerance kMetricTolerance = {.rtol = 1e-4, .atol = 1e-7};

}  // namespace

ModuleScript::ModuleScript(std::string folder, std::string scratch, Json json, Arrays trace)
    : folder_(std::move(folder)),
      scratch_(std::move(scratch)),
      json_(std::move(json)),
      trace_(std::move(trace)),
      tolerance_(Tolerance::FromJson(json_)) {}

absl::Status ModuleScript::Run() {
  COOPER_ASSIGN_OR_RETURN(module_, MakeModule(folder_, json_.at("module")));
  size_t number = 0;
  for (const Json& step : json_.at("steps")) {
    const std::string what = absl::StrCat("step ", number++, " ", step.at("op").dump());
    const absl::Status status = RunStep(step);
    if (status.code() == absl::StatusCode::kUnimplemented) return status;
    const bool must_fail = step.value("expect", "ok") == "error";
    if (must_fail && status.ok()) return absl::UnknownError(what + " succeeds, expected an error");
    if (!must_fail) COOPER_RETURN_IF_ERROR(AddContext(status, what));
  }
  return absl::OkStatus();
}

absl::Status ModuleScript::RunStep(const Json& step) {
  static const auto* const steps = new std::map<std::string, StepFn>{
      {"bind", &ModuleScript::Bind},
      {"init_params", &ModuleScript::InitParams},
      {"set_params", &ModuleScript::SetParams},
      {"init_optimizer", &ModuleScript::InitOptimizer},
      {"forward", &ModuleScript::Forward},
      {"backward", &ModuleScript::Backward},
      {"update", &ModuleScript::Update},
      {"reshape", &ModuleScript::Reshape},
      {"switch_bucket", &ModuleScript::SwitchBucket},
      {"set_states", &ModuleScript::SetStates},
      {"zero_grads", &ModuleScript::ZeroGrads},
      {"reset_metric", &ModuleScript::ResetMetric},
      {"update_metric", &ModuleScript::UpdateMetric},
      {"save_checkpoint", &ModuleScript::SaveCheckpoint},
      {"load_checkpoint", &ModuleScript::LoadCheckpoint},
      {"predict", &ModuleScript::Predict},
      {"score", &ModuleScript::Score},
      {"fit", &ModuleScript::Fit},
      {"kv_create", &ModuleScript::KVCreate},
      {"kv_init", &ModuleScript::KVInit},
      {"kv_set_optimizer", &ModuleScript::KVSetOptimizer},
      {"kv_push", &ModuleScript::KVPush},
      {"kv_expect_pull", &ModuleScript::KVExpectPull},
      {"expect_outputs", &ModuleScript::ExpectOutputs},
      {"expect_input_grads", &ModuleScript::ExpectInputGrads},
      {"expect_states", &ModuleScript::ExpectStates},
      {"expect_grads", &ModuleScript::ExpectGrads},
      {"expect_params", &ModuleScript::ExpectParams},
      {"expect_shapes", &ModuleScript::ExpectShapes},
      {"expect_metric", &ModuleScript::ExpectMetric},
  };
  const std::string op = step.at("op").get<std::string>();
  const auto found = steps->find(op);
  if (found == steps->end()) return absl::UnimplementedError("nothing runs the step " + op);
  return (this->*found->second)(step);
}

absl::Status ModuleScript::Bind(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(ModuleBindOptions options, BindOptionsFromJson(step));
  return module_->Bind(options);
}

// Without an initializer, missing parameters keep their values.
absl::Status ModuleScript::InitParams(const Json& step) {
  const ModuleParams params = ParamsOf(trace_, step.at("from").get<std::string>());
  InitParamsOptions options = {.initializer = nullptr,
                               .arg_params = params.args,
                               .aux_params = params.auxs,
                               .allow_missing = step.value("allow_missing", false),
                               .force_init = step.value("force_init", false),
                               .allow_extra = step.value("allow_extra", false)};
  if (step.contains("initializer")) {
    COOPER_ASSIGN_OR_RETURN(options.initializer,
                            CreateInitializer(step.at("initializer").get<std::string>()));
  }
  return module_->InitParams(options);
}

absl::Status ModuleScript::SetParams(const Json& step) {
  const ModuleParams params = ParamsOf(trace_, step.at("from").get<std::string>());
  return module_->SetParams(params.args, params.auxs,
                            {.allow_missing = step.value("allow_missing", false),
                             .force_init = step.value("force_init", true),
                             .allow_extra = step.value("allow_extra", false)});
}

absl::Status ModuleScript::InitOptimizer(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(InitOptimizerOptions options, OptimizerOptionsFromJson(step));
  return module_->InitOptimizer(options);
}

absl::Status ModuleScript::Forward(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(DataBatch batch, Batch(step));
  std::optional<bool> is_train;
  if (step.contains("is_train")) is_train = step.at("is_train").get<bool>();
  return module_->Forward(batch, is_train);
}

absl::Status ModuleScript::Backward(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> heads,
                          ArraysOf(step.value("out_grads", Json::array())));
  return module_->Backward(heads);
}

absl::Status ModuleScript::Update(const Json&) { return module_->Update(); }

absl::Status ModuleScript::Reshape(const Json& step) {
  auto* module = dynamic_cast<Module*>(module_.get());
  if (module == nullptr) return absl::UnimplementedError("reshape of another type of module");
  return module->Reshape(DescsFromJson(step.at("data_shapes")),
                         DescsFromJson(step.at("label_shapes")));
}

absl::Status ModuleScript::SwitchBucket(const Json& step) {
  auto* module = dynamic_cast<BucketingModule*>(module_.get());
  if (module == nullptr) return absl::UnimplementedError("switch_bucket of another type of module");
  return module->SwitchBucket(step.at("bucket_key").get<int64_t>(),
                              DescsFromJson(step.at("data_shapes")),
                              DescsFromJson(step.at("label_shapes")));
}

absl::Status ModuleScript::SetStates(const Json& step) {
  if (step.contains("value")) return module_->SetStates(step.at("value").get<double>());
  if (step.contains("keys")) {
    COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> states, ArraysOf(step.at("keys")));
    return module_->SetStates(states);
  }
  COOPER_ASSIGN_OR_RETURN(absl::Span<const NDArray> outputs, module_->GetOutputs());
  return module_->SetStates(outputs.subspan(step.at("from_outputs").get<size_t>()));
}

absl::Status ModuleScript::ZeroGrads(const Json&) {
  COOPER_ASSIGN_OR_RETURN(ModuleParams params, module_->GetParams());
  for (const auto& [name, array] : params.args) {
    const absl::StatusOr<NDArray> grad = module_->GetGrad(name);
    if (grad.status().code() == absl::StatusCode::kNotFound) continue;
    COOPER_RETURN_IF_ERROR(grad.status());
    COOPER_RETURN_IF_ERROR(grad->Fill(0));
  }
  return absl::OkStatus();
}

absl::Status ModuleScript::ResetMetric(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(metric_, MetricFromJson(step));
  return absl::OkStatus();
}

absl::Status ModuleScript::UpdateMetric(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(DataBatch batch, Batch(step));
  return module_->UpdateMetric(*metric_, batch.label);
}

// Saves a checkpoint and compares it with MXNet's own files, which are in the case's folder.
absl::Status ModuleScript::SaveCheckpoint(const Json& step) {
  const auto* module = dynamic_cast<const Module*>(module_.get());
  if (module == nullptr) return absl::UnimplementedError("save_checkpoint of another module");
  const std::string name = step.at("prefix").get<std::string>();
  const std::string prefix = absl::StrCat(scratch_, "/", name);
  const int epoch = step.at("epoch").get<int>();
  COOPER_RETURN_IF_ERROR(module->SaveCheckpoint(prefix, epoch));
  COOPER_ASSIGN_OR_RETURN(std::string got, ReadFile(prefix + "-symbol.json"));
  COOPER_ASSIGN_OR_RETURN(std::string expected,
                          ReadFile(absl::StrCat(folder_, "/", name, "-symbol.json")));
  COOPER_RETURN_IF_ERROR(CompareTexts("saved symbol", got, expected));
  const std::string params_name = absl::StrCat(name, "-000", epoch, ".params");
  COOPER_ASSIGN_OR_RETURN(Arrays got_params, ReadArrays(scratch_ + "/" + params_name));
  COOPER_ASSIGN_OR_RETURN(Arrays expected_params, ReadArrays(folder_ + "/" + params_name));
  return CompareArrayMap("saved ", got_params, expected_params);
}

absl::Status ModuleScript::LoadCheckpoint(const Json& step) {
  ModuleOptions options;
  options.compute.disabled_passes = DisabledPasses();
  options.data_names = step.at("data_names").get<std::vector<std::string>>();
  options.label_names = step.at("label_names").get<std::vector<std::string>>();
  COOPER_ASSIGN_OR_RETURN(
      module_, Module::Load(absl::StrCat(folder_, "/", step.at("prefix").get<std::string>()),
                            step.at("epoch").get<int>(), false, std::move(options)));
  return Bind(step);
}

absl::Status ModuleScript::Predict(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<NDArrayIter> iter, MakeIter(step));
  const PredictOptions options = {.num_batch = step.value("num_batch", int64_t{-1})};
  std::vector<NDArray> got;
  if (step.value("merge_batches", true)) {
    COOPER_ASSIGN_OR_RETURN(got, module_->Predict(*iter, options));
  } else {
    COOPER_RETURN_IF_ERROR(module_->IterPredict(
        *iter,
        [&](const std::vector<NDArray>& outputs, int64_t, const DataBatch&) {
          got.insert(got.end(), outputs.begin(), outputs.end());
          return absl::OkStatus();
        },
        options));
  }
  return CompareList(step, "predict", got);
}

absl::Status ModuleScript::Score(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<NDArrayIter> iter, MakeIter(step));
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<EvalMetric> metric, MetricFromJson(step));
  COOPER_ASSIGN_OR_RETURN(std::vector<NamedValue> got, module_->Score(*iter, *metric));
  Json names = Json::array(), values = Json::array();
  for (const Json& pair : step.at("result")) {
    names.push_back(pair.at(0));
    values.push_back(pair.at(1));
  }
  return CompareNameValues("score", got, names, values, kMetricTolerance);
}

absl::Status ModuleScript::Fit(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<NDArrayIter> iter, MakeIter(step));
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<EvalMetric> metric, MetricFromJson(step));
  const ModuleParams params = ParamsOf(trace_, step.at("from").get<std::string>());
  FitOptions options;
  options.eval_metric = metric.get();
  COOPER_ASSIGN_OR_RETURN(options.optimizer, OptimizerOptionsFromJson(step));
  options.params.arg_params = params.args;
  options.params.aux_params = params.auxs;
  options.num_epoch = step.at("num_epoch").get<int>();
  return module_->Fit(*iter, options);
}

absl::Status ModuleScript::KVCreate(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(kvstore_, CreateKVStore(step.at("type").get<std::string>()));
  if (!step.contains("compression_params")) return absl::OkStatus();
  return kvstore_->SetGradientCompression(TextsFromJson(step.at("compression_params")));
}

absl::Status ModuleScript::KVInit(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(NDArray value, FindArray(trace_, step.at("value").get<std::string>()));
  return kvstore_->Init(step.at("key").get<std::string>(), value);
}

absl::Status ModuleScript::KVSetOptimizer(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(InitOptimizerOptions options, OptimizerOptionsFromJson(step));
  COOPER_ASSIGN_OR_RETURN(
      auto optimizer,
      CreateOptimizer(options.optimizer, options.optimizer_params, options.lr_scheduler));
  return kvstore_->SetOptimizer(std::move(optimizer));
}

absl::Status ModuleScript::KVPush(const Json& step) {
  COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> values, ArraysOf(step.at("values")));
  return kvstore_->Push(step.at("key").get<std::string>(), values);
}

absl::Status ModuleScript::KVExpectPull(const Json& step) {
  const std::string name = step.at("value").get<std::string>();
  COOPER_ASSIGN_OR_RETURN(NDArray expected, FindArray(trace_, name));
  COOPER_ASSIGN_OR_RETURN(NDArray got,
                          NDArray::Empty(Shape(step.at("shape").get<std::vector<int64_t>>())));
  COOPER_RETURN_IF_ERROR(kvstore_->Pull(step.at("key").get<std::string>(), {got}));
  return CompareArrays(name, got, expected, tolerance_);
}

absl::StatusOr<DataBatch> ModuleScript::Batch(const Json& step) const {
  return BatchFromJson(json_.at("batches").at(step.at("batch").get<size_t>()), trace_);
}

absl::StatusOr<std::unique_ptr<NDArrayIter>> ModuleScript::MakeIter(const Json& step) const {
  COOPER_ASSIGN_OR_RETURN(NDArray data, FindArray(trace_, step.at("data").get<std::string>()));
  COOPER_ASSIGN_OR_RETURN(NDArray label, FindArray(trace_, step.at("label").get<std::string>()));
  NDArrayIterOptions options;
  options.batch_size = step.at("batch_size").get<int64_t>();
  COOPER_ASSIGN_OR_RETURN(options.last_batch_handle,
                          LastBatchHandleFromName(step.value("last_batch_handle", "pad")));
  return NDArrayIter::Create(NameArrays({data}, "data"), NameArrays({label}, "softmax_label"),
                             options);
}

absl::StatusOr<std::vector<NDArray>> ModuleScript::ArraysOf(const Json& keys) const {
  std::vector<NDArray> arrays;
  for (const Json& key : keys) {
    COOPER_ASSIGN_OR_RETURN(arrays.emplace_back(), FindArray(trace_, key.get<std::string>()));
  }
  return arrays;
}

}  // namespace cooper::conformance
