#ifndef COOPER_TESTS_PLANS_PLAN_CASES_H_
#define COOPER_TESTS_PLANS_PLAN_CASES_H_

// Networks whose memory plans are compared with their lower bounds: the image classifiers, those of
// the golden cases, random graphs.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// A symbol and how it is bound.
struct PlanCase {
  std::string name;
  Symbol symbol;
  BindOptions options;  // of training, unless its grad_req is kNull
};

struct PlanRow {
  std::string name;
  bool training = false;
  MemoryReport memory;
  double bind_ms = 0;

  double ratio() const;  // of the plan to its lower bound
  // What every plan has to be: at most 2 percent above the bound, or proven to be the smallest.
  bool IsGood() const { return memory.proven || ratio() <= 1.02; }
  std::string ToString() const;
  static std::string Header();
};

// Binds it, and computes nothing.
absl::StatusOr<PlanRow> Plan(const PlanCase& plan_case);

// Every image network for each number of images, for training and for inference.
absl::StatusOr<std::vector<PlanCase>> ImagePlanCases(const std::vector<int>& batches);

// Every symbol of the cases of operators, cells and modules in `root`, which is tests/golden, for
// training and for inference. Those whose shapes are in no case are left out: they are parts of
// others.
absl::StatusOr<std::vector<PlanCase>> GoldenPlanCases(const std::string& root);

// Of seeds [0, count).
std::vector<PlanCase> RandomPlanCases(int count);

}  // namespace cooper

#endif  // COOPER_TESTS_PLANS_PLAN_CASES_H_
