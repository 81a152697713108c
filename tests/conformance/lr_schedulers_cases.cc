// Runs lr_schedulers/cases.json: learning rates of schedules, queried in order and with jumps.

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/module_data.h"

namespace cooper::conformance {
namespace {

absl::Status CheckRates(const Json& params, const Json& updates, const Json& rates,
                        Tolerance tolerance) {
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<LRScheduler> scheduler, SchedulerFromJson(params));
  for (size_t i = 0; i < updates.size(); ++i) {
    const int64_t update = updates[i].get<int64_t>();
    COOPER_RETURN_IF_ERROR(CompareNumbers(absl::StrCat("rate of update ", update),
                                          scheduler->LearningRate(update),
                                          NumberFromJson(rates.at(i)), tolerance));
  }
  return absl::OkStatus();
}

void RunLRSchedulers(CaseRunner& runner) {
  const Json file = ReadJson(runner.root() + "/lr_schedulers/cases.json");
  const Tolerance tolerance = {.rtol = file.at("rtol").get<double>(), .atol = 0};
  runner.RunList("lr_schedulers", file.at("cases"), [&](const Json& json) {
    COOPER_RETURN_IF_ERROR(
        CheckRates(json.at("params"), json.at("num_update"), json.at("lr"), tolerance));
    return CheckRates(json.at("params"), json.at("num_update_jump"), json.at("lr_jump"), tolerance);
  });
}

const CategoryRegistrar registered("lr_schedulers", RunLRSchedulers);

}  // namespace
}  // namespace cooper::conformance
