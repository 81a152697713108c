// Prints the sizes of memory plans and their lower bounds: for MXNet's image classification
// networks, golden cases and random graphs.
//
//   ./bazelw run //tests/plans:memory_plans -- --golden=$PWD/tests/golden
//
// For golden and random graphs it prints only sums and outliers, unless --all is set.

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_format.h"
#include "ndarray/base/status_macros.h"
#include "tests/plans/plan_cases.h"

ABSL_FLAG(std::vector<std::string>, batches, std::vector<std::string>({"1", "4", "32"}),
          "numbers of images");
ABSL_FLAG(std::string, golden, "", "the folder tests/golden; empty: without its cases");
ABSL_FLAG(int, random_graphs, 1000, "how many random graphs");
ABSL_FLAG(bool, all, false, "print every row");

namespace cooper {
namespace {

absl::Status Print(const char* what, const std::vector<PlanCase>& cases, bool all) {
  int good = 0, proven = 0;
  double largest = 1, sum = 0, bind_ms = 0;
  std::cout << "\n" << PlanRow::Header() << "\n";
  for (const PlanCase& plan_case : cases) {
    COOPER_ASSIGN_OR_RETURN(const PlanRow row, Plan(plan_case));
    good += row.IsGood() ? 1 : 0;
    proven += row.memory.proven ? 1 : 0;
    largest = std::max(largest, row.ratio());
    sum += row.ratio();
    bind_ms += row.bind_ms;
    if (all || row.ratio() > 1.02) std::cout << row.ToString() << std::endl;
  }
  std::cout << absl::StrFormat(
      "%s: %d plans, %d within 2%% of the bound or proven, %d proven; ratio %.4f on average, %.4f "
      "at most; bound in %.0f ms\n",
      what, cases.size(), good, proven, sum / static_cast<double>(cases.size()), largest, bind_ms);
  return absl::OkStatus();
}

absl::Status Run() {
  std::vector<int> batches;
  for (const std::string& text : absl::GetFlag(FLAGS_batches)) batches.push_back(std::stoi(text));
  const bool all = absl::GetFlag(FLAGS_all);
  COOPER_ASSIGN_OR_RETURN(const std::vector<PlanCase> images, ImagePlanCases(batches));
  if (!images.empty()) COOPER_RETURN_IF_ERROR(Print("image networks", images, /*all=*/true));
  if (const std::string root = absl::GetFlag(FLAGS_golden); !root.empty()) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<PlanCase> golden, GoldenPlanCases(root));
    COOPER_RETURN_IF_ERROR(Print("golden cases", golden, all));
  }
  const int graphs = absl::GetFlag(FLAGS_random_graphs);
  return graphs > 0 ? Print("random graphs", RandomPlanCases(graphs), all) : absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("memory plans beside their lower bounds");
  absl::ParseCommandLine(argc, argv);
  if (const absl::Status status = cooper::Run(); !status.ok()) {
    std::cerr << status << "\n";
    return 1;
  }
}
