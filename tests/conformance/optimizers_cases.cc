// Runs optimizers/<name>/<case>: steps of an optimizer on one or several parameters.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "module/kwargs/json_kwargs.h"
#include "module/optimizer/create_optimizer.h"
#include "module/optimizer/updater.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_context.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/module_data.h"

namespace cooper::conformance {
namespace {

absl::StatusOr<std::shared_ptr<Optimizer>> MakeOptimizer(const Json& json) {
  std::shared_ptr<LRScheduler> scheduler;
  if (json.contains("lr_scheduler")) {
    COOPER_ASSIGN_OR_RETURN(scheduler, SchedulerFromJson(json.at("lr_scheduler")));
  }
  COOPER_ASSIGN_OR_RETURN(Kwargs kwargs, KwargsFromJson(json.at("hyperparameters").dump()));
  if (scheduler != nullptr) {
    // MXNet's poly and cosine schedules ignore a separate learning rate; cooper's start from it.
    const std::string kind = json.at("lr_scheduler").at("kind").get<std::string>();
    if (kind == "poly" || kind == "cosine") kwargs.erase("learning_rate");
  }
  COOPER_ASSIGN_OR_RETURN(
      std::shared_ptr<Optimizer> optimizer,
      CreateOptimizer(json.at("optimizer").get<std::string>(), kwargs, std::move(scheduler)));
  using Multipliers = std::map<std::string, double>;
  if (json.contains("lr_mult")) optimizer->SetLrMult(json.at("lr_mult").get<Multipliers>());
  if (json.contains("wd_mult")) optimizer->SetWdMult(json.at("wd_mult").get<Multipliers>());
  return optimizer;
}

absl::Status RunCase(const std::string& folder) {
  const Json json = ReadJson(folder + "/case.json");
  COOPER_ASSIGN_OR_RETURN(Arrays trace, ReadArrays(folder + "/trace.params"));
  COOPER_ASSIGN_OR_RETURN(std::shared_ptr<Optimizer> optimizer, MakeOptimizer(json));
  const auto names = json.at("params").get<std::vector<std::string>>();
  const auto array = [&](const char* what, int step, const std::string& name) {
    return FindArray(trace, names.size() == 1 ? absl::StrCat(what, ":", step)
                                              : absl::StrCat(what, ":", step, ":", name));
  };
  std::map<std::string, NDArray> weights;
  for (const std::string& name : names) {
    COOPER_ASSIGN_OR_RETURN(NDArray start, array("weight", 0, name));
    COOPER_ASSIGN_OR_RETURN(weights[name], start.CopyTo(CaseContext()));
  }
  Updater updater(optimizer);
  for (int step = 1; step <= json.at("steps").get<int>(); ++step) {
    for (const std::string& name : names) {
      COOPER_ASSIGN_OR_RETURN(NDArray grad, array("grad", step, name));
      COOPER_ASSIGN_OR_RETURN(grad, grad.CopyTo(CaseContext()));
      COOPER_RETURN_IF_ERROR(updater.Update(name, weights.at(name), grad));
      COOPER_ASSIGN_OR_RETURN(NDArray expected, array("weight", step, name));
      COOPER_RETURN_IF_ERROR(CompareArrays(absl::StrCat(name, " after step ", step),
                                           weights.at(name), expected, Tolerance::FromJson(json)));
    }
  }
  return absl::OkStatus();
}

void RunOptimizers(CaseRunner& runner) { runner.RunFolders("optimizers", RunCase); }

const CategoryRegistrar registered("optimizers", RunOptimizers);

}  // namespace
}  // namespace cooper::conformance
