#ifndef COOPER_TESTS_PLANS_PLAN_CASES_H_
#define COOPER_TESTS_PLANS_PLAN_CASES_H_

// Networks whose memory plans are compared with their lower bounds: image classifiers, golden
// cases, random graphs.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// A symbol and its binding options.
struct PlanCase {
  std::string name;
  Symbol symbol;
  BindOptions options;  // for training, unless grad_req is kNull
};

struct PlanRow {
  std::string name;
  bool training = false;
  MemoryReport memory;
  double bind_ms = 0;

  double ratio() const;  // plan size / lower bound
  // The criterion for every plan: at most 2 percent above the bound, or proven optimal.
  bool IsGood() const { return memory.proven || ratio() <= 1.02; }
  std::string ToString() const;
  static std::string Header();
};

// Binds the case without running it.
absl::StatusOr<PlanRow> Plan(const PlanCase& plan_case);

// Returns every image network for each batch size, for training and for inference.
absl::StatusOr<std::vector<PlanCase>> ImagePlanCases(const std::vector<int>& batches);

// Returns every symbol of the operator, cell and module cases in `root`, which is tests/golden, for
// training and for inference. Symbols without shapes in any case are omitted: they are parts of
// others.
absl::StatusOr<std::vector<PlanCase>> GoldenPlanCases(const std::string& root);

// Returns the random graphs of seeds [0, count).
std::vector<PlanCase> RandomPlanCases(int count);

}  // namespace cooper

#endif  // COOPER_TESTS_PLANS_PLAN_CASES_H_
