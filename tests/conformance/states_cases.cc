// Runs states/<case>: a training of MXNet whose optimizer states a module takes over.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "module/checkpoint/mxnet_states_file.h"
#include "module/kwargs/json_kwargs.h"
#include "module/network/module.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_macros.h"
#include "symbol/json/json.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/module_data.h"
#include "tests/conformance/scratch_folder.h"

ABSL_FLAG(std::string, write_states, "",
          "a folder for the optimizer states that cooper writes for MXNet, CASE.states");

namespace cooper::conformance {
namespace {

DataDesc Describe(const std::string& name, const NDArray& array) {
  return {.name = name, .shape = array.shape(), .dtype = array.dtype(), .layout = "NC"};
}

absl::StatusOr<std::unique_ptr<Module>> MakeModule(const std::string& folder, const Json& json,
                                                   const Arrays& arrays) {
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, LoadSymbol(folder + "/symbol.json"));
  ModuleOptions options{.label_names = {"label"}};
  options.compute.fixed_param_names = json.at("fixed_param_names").get<std::vector<std::string>>();
  options.compute.contexts.clear();
  for (int i = 0; i < json.at("contexts").get<int>(); ++i) {
    options.compute.contexts.push_back(Context::Cpu(i));
  }
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                          Module::Create(symbol, std::move(options)));
  COOPER_RETURN_IF_ERROR(module->Bind({.data_shapes = {Describe("data", arrays.at("data:0"))},
                                       .label_shapes = {Describe("label", arrays.at("label:0"))}}));
  COOPER_RETURN_IF_ERROR(module->InitParams(
      {.arg_params = WithPrefix(arrays, "arg:"), .aux_params = WithPrefix(arrays, "aux:")}));
  InitOptimizerOptions optimizer{
      .optimizer = json.at("optimizer").get<std::string>(),
      .kvstore = json.at("kvstore").get<std::string>(),
      .update_on_kvstore = json.at("update_on_kvstore").get<bool>(),
  };
  COOPER_ASSIGN_OR_RETURN(optimizer.optimizer_params,
                          KwargsFromJson(json.at("hyperparameters").dump()));
  if (json.contains("wd_mult")) {
    optimizer.wd_mult = json.at("wd_mult").get<std::map<std::string, double>>();
  }
  if (json.contains("lr_scheduler")) {
    COOPER_ASSIGN_OR_RETURN(optimizer.lr_scheduler, SchedulerFromJson(json.at("lr_scheduler")));
  }
  COOPER_RETURN_IF_ERROR(module->InitOptimizer(optimizer));
  return module;
}

// Trains with the states that `module` has, and compares the parameters with MXNet's.
absl::Status GoOn(Module* module, const Json& json, const Arrays& arrays) {
  for (int step = 0; step < json.at("steps").get<int>(); ++step) {
    COOPER_RETURN_IF_ERROR(
        module->ForwardBackward({.data = {arrays.at(absl::StrCat("data:", step))},
                                 .label = {arrays.at(absl::StrCat("label:", step))}}));
    COOPER_RETURN_IF_ERROR(module->Update());
  }
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, module->GetParams());
  const Arrays expected = WithPrefix(arrays, "expect:");
  if (expected.empty()) return absl::UnknownError("the case expects nothing");
  for (const auto& [name, array] : expected) {
    const ArrayMap& all = name.substr(0, 4) == "aux:" ? params.auxs : params.args;
    COOPER_ASSIGN_OR_RETURN(const NDArray got, FindArray(Arrays(all), name.substr(4)));
    COOPER_RETURN_IF_ERROR(CompareArrays(name, got, array, Tolerance::FromJson(json)));
  }
  return absl::OkStatus();
}

// The states of Gluon's Trainer have what those of Module lack: Nadam's product of momenta.
bool HasMoreThanModule(const Json& json) {
  return json.at("optimizer") == "nadam" && json.at("hyperparameters").at("begin_num_update") == 0;
}

// Writes the module's states for MXNet, and goes on from that file as MXNet did (loaded.params).
absl::Status GoOnFromWritten(const std::string& folder, const std::string& path, Json json,
                             const Arrays& arrays) {
  json["hyperparameters"]["begin_num_update"] = json.at("steps");
  COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, MakeModule(folder, json, arrays));
  COOPER_RETURN_IF_ERROR(module->LoadOptimizerStates(path));
  COOPER_ASSIGN_OR_RETURN(Arrays loaded, ReadArrays(folder + "/loaded.params"));
  for (const auto& [name, array] : arrays) loaded.emplace(name, array);
  return GoOn(module.get(), json, loaded);
}

absl::Status RunCase(const std::string& folder) {
  const Json json = ReadJson(folder + "/case.json");
  COOPER_ASSIGN_OR_RETURN(const Arrays arrays, ReadArrays(folder + "/io.params"));
  COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, MakeModule(folder, json, arrays));
  COOPER_RETURN_IF_ERROR(module->LoadOptimizerStates(folder + "/optimizer.states"));
  const ScratchFolder scratch;
  const std::string kept = absl::GetFlag(FLAGS_write_states);
  const std::string path =
      absl::StrCat(kept.empty() ? scratch.path() : kept, "/",
                   std::filesystem::path(folder).filename().string(), ".states");
  const absl::Status written = SaveMxnetOptimizerStates(*module, path);
  COOPER_RETURN_IF_ERROR(GoOn(module.get(), json, arrays));
  if (json.at("contexts") != 1 && json.at("kvstore").get<std::string>().empty()) {
    return CompareTexts("writing states of several contexts",
                        absl::StatusCodeToString(written.code()), "UNIMPLEMENTED");
  }
  COOPER_RETURN_IF_ERROR(written);
  if (HasMoreThanModule(json)) return absl::OkStatus();
  return AddContext(GoOnFromWritten(folder, path, json, arrays), "from the written states");
}

void RunStates(CaseRunner& runner) { runner.RunFolders("states", RunCase); }

const CategoryRegistrar registered("states", RunStates);

}  // namespace
}  // namespace cooper::conformance
