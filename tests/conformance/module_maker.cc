#include "tests/conformance/module_maker.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "module/bucketing/bucketing_module.h"
#include "module/kwargs/json_kwargs.h"
#include "module/network/module.h"
#include "module/options/group_contexts.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_macros.h"
#include "symbol/json/json.h"
#include "tests/conformance/case_context.h"
#include "tests/conformance/disabled_passes.h"
#include "tests/conformance/graph_case.h"
#include "tests/conformance/module_data.h"

namespace cooper::conformance {
namespace {

using Names = std::vector<std::string>;

std::vector<Context> ContextsFromJson(const Json& json) {
  std::vector<Context> contexts;
  for (const Json& context : json) {
    const int id = context.at("id").get<int>();
    contexts.push_back(
        ContextOfCase(context.at("type") == "gpu" ? Context::Gpu(id) : Context::Cpu(id)));
  }
  return contexts;
}

GroupContexts GroupsFromJson(const Json& json) {
  GroupContexts::ListMap groups;
  for (const auto& [group, contexts] : json.items()) groups[group] = ContextsFromJson(contexts);
  return groups;
}

absl::Status Unknown(const char* what, const std::string& key) {
  return absl::UnimplementedError(absl::StrCat(what, " has the key '", key, "'"));
}

// Reads an option that Module and BucketingModule share; returns false for other keys.
bool ReadCommon(const std::string& key, const Json& value, ComputeOptions* compute) {
  if (key == "contexts") {
    compute->contexts = ContextsFromJson(value);
  } else if (key == "work_load_list") {
    compute->work_load_list = value.get<std::vector<double>>();
  } else if (key == "fixed_param_names") {
    compute->fixed_param_names = value.get<Names>();
  } else if (key == "state_names") {
    compute->state_names = value.get<Names>();
  } else if (key == "compression_params") {
    compute->compression_params = TextsFromJson(value);
  } else if (key == "group2ctxs") {
    compute->group2ctxs = GroupsFromJson(value);
  } else {
    return key == "type";
  }
  return true;
}

absl::StatusOr<std::unique_ptr<BaseModule>> MakePlainModule(const std::string& folder,
                                                            const Json& json) {
  ModuleOptions options;
  options.compute.contexts = {CaseContext()};
  options.compute.fallback = CaseFallback();
  options.compute.disabled_passes = DisabledPasses();
  for (const auto& [key, value] : json.items()) {
    if (key == "data_names") {
      options.data_names = value.get<Names>();
    } else if (key == "label_names") {
      options.label_names = value.get<Names>();
    } else if (key != "symbol" && key != "meta" && !ReadCommon(key, value, &options.compute)) {
      return Unknown("Module", key);
    }
  }
  COOPER_ASSIGN_OR_RETURN(Symbol symbol,
                          LoadSymbol(folder + "/" + json.at("symbol").get<std::string>()));
  return Module::Create(symbol, std::move(options));
}

absl::StatusOr<std::unique_ptr<BaseModule>> MakeBucketingModule(const std::string& folder,
                                                                const Json& json) {
  BucketingModuleOptions options;
  options.compute.contexts = {CaseContext()};
  options.compute.fallback = CaseFallback();
  options.compute.disabled_passes = DisabledPasses();
  for (const auto& [key, value] : json.items()) {
    if (key == "default_bucket_key") {
      options.default_bucket_key = value.get<int64_t>();
    } else if (key != "buckets" && !ReadCommon(key, value, &options.compute)) {
      return Unknown("BucketingModule", key);
    }
  }
  std::map<int64_t, BucketSymbol> buckets;
  for (const Json& bucket : json.at("buckets")) {
    BucketSymbol& made = buckets[bucket.at("bucket_key").get<int64_t>()];
    COOPER_ASSIGN_OR_RETURN(made.symbol,
                            LoadSymbol(folder + "/" + bucket.at("symbol").get<std::string>()));
    made.data_names = bucket.at("data_names").get<Names>();
    made.label_names = bucket.at("label_names").get<Names>();
  }
  options.sym_gen = [buckets](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    const auto found = buckets.find(key.int_value());
    if (found == buckets.end()) return absl::NotFoundError("no bucket " + key.ToString());
    return found->second;
  };
  return BucketingModule::Create(std::move(options));
}

absl::StatusOr<std::unique_ptr<BaseModule>> MakeSequentialModule(const std::string& folder,
                                                                 const Json& json) {
  auto chain = std::make_unique<SequentialModule>();
  for (const Json& part : json.at("modules")) {
    SequentialMeta meta;
    for (const auto& [key, value] : part.at("meta").items()) {
      if (key == "take_labels") {
        meta.take_labels = value.get<bool>();
      } else if (key == "auto_wiring") {
        meta.auto_wiring = value.get<bool>();
      } else {
        return Unknown("SequentialModule", key);
      }
    }
    COOPER_ASSIGN_OR_RETURN(std::unique_ptr<BaseModule> module, MakePlainModule(folder, part));
    COOPER_RETURN_IF_ERROR(chain->Add(std::move(module), meta));
  }
  return chain;
}

}  // namespace

std::map<std::string, std::string> TextsFromJson(const Json& json) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : json.items()) {
    texts[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return texts;
}

absl::StatusOr<std::unique_ptr<BaseModule>> MakeModule(const std::string& folder,
                                                       const Json& json) {
  const std::string type = json.at("type").get<std::string>();
  if (type == "Module") return MakePlainModule(folder, json);
  if (type == "BucketingModule") return MakeBucketingModule(folder, json);
  if (type == "SequentialModule") return MakeSequentialModule(folder, json);
  return absl::UnimplementedError("type of module: " + type);
}

std::vector<DataDesc> DescsFromJson(const Json& json) {
  std::vector<DataDesc> descs;
  for (const Json& item : json) {
    DataDesc& desc = descs.emplace_back();
    desc.name = item.at("name").get<std::string>();
    desc.shape = Shape(item.at("shape").get<std::vector<int64_t>>());
    desc.layout = item.value("layout", desc.layout);
  }
  return descs;
}

absl::StatusOr<DataBatch> BatchFromJson(const Json& json, const Arrays& trace) {
  DataBatch batch;
  for (const Json& key : json.at("data")) {
    COOPER_ASSIGN_OR_RETURN(batch.data.emplace_back(), FindArray(trace, key.get<std::string>()));
  }
  for (const Json& key : json.at("label")) {
    COOPER_ASSIGN_OR_RETURN(batch.label.emplace_back(), FindArray(trace, key.get<std::string>()));
  }
  batch.pad = json.at("pad").get<int64_t>();
  batch.provide_data = DescsFromJson(json.at("provide_data"));
  batch.provide_label = DescsFromJson(json.at("provide_label"));
  if (json.contains("bucket_key") && !json.at("bucket_key").is_null()) {
    batch.bucket_key = json.at("bucket_key").get<int64_t>();
  }
  return batch;
}

absl::StatusOr<ModuleBindOptions> BindOptionsFromJson(const Json& step) {
  ModuleBindOptions options;
  options.data_shapes = DescsFromJson(step.at("data_shapes"));
  options.label_shapes = DescsFromJson(step.at("label_shapes"));
  options.for_training = step.value("for_training", true);
  options.inputs_need_grad = step.value("inputs_need_grad", false);
  if (!step.contains("grad_req")) return options;
  const Json& reqs = step.at("grad_req");
  if (reqs.is_string()) {
    COOPER_ASSIGN_OR_RETURN(options.grad_req, WriteReqFromJson(reqs));
    return options;
  }
  for (const auto& [name, req] : reqs.items()) {
    COOPER_ASSIGN_OR_RETURN(options.grad_reqs[name], WriteReqFromJson(req));
  }
  return options;
}

absl::StatusOr<InitOptimizerOptions> OptimizerOptionsFromJson(const Json& step) {
  InitOptimizerOptions options;
  options.optimizer = step.at("optimizer").get<std::string>();
  Json params = step.at("optimizer_params");
  if (params.contains("lr_scheduler")) {
    COOPER_ASSIGN_OR_RETURN(options.lr_scheduler, SchedulerFromJson(params.at("lr_scheduler")));
    params.erase("lr_scheduler");
  }
  COOPER_ASSIGN_OR_RETURN(options.optimizer_params, KwargsFromJson(params.dump()));
  if (step.contains("kvstore")) {
    options.kvstore = step.at("kvstore").is_null() ? "" : step.at("kvstore").get<std::string>();
  }
  return options;
}

ModuleParams ParamsOf(const Arrays& trace, const std::string& prefix) {
  return {.args = WithPrefix(trace, prefix + "/arg:"), .auxs = WithPrefix(trace, prefix + "/aux:")};
}

}  // namespace cooper::conformance
