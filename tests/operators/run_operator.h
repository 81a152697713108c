#ifndef COOPER_TESTS_OPERATORS_RUN_OPERATOR_H_
#define COOPER_TESTS_OPERATORS_RUN_OPERATOR_H_

// Runs one operator by itself, there and back, on numbers that a test chooses.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

struct OperatorRun {
  std::vector<std::vector<float>> outputs;
  // Of the inputs, for head gradients of ones; empty where there is none.
  std::vector<std::vector<float>> grads;
};

// `inputs` are on the CPU; the operator runs on `context` on copies of them. Fails as binding does,
// and Forward and Backward.
absl::StatusOr<OperatorRun> RunOperator(const std::string& op, const AttrMap& attrs,
                                        const std::vector<NDArray>& inputs,
                                        Context context = Context::Cpu());

}  // namespace cooper

#endif  // COOPER_TESTS_OPERATORS_RUN_OPERATOR_H_
