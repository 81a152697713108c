#ifndef COOPER_TESTS_OPERATORS_RUN_OPERATOR_H_
#define COOPER_TESTS_OPERATORS_RUN_OPERATOR_H_

// Runs one operator forward and backward on given numbers.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

struct OperatorRun {
  std::vector<std::vector<float>> outputs;
  // By input, for head gradients of ones; empty for an input without a gradient.
  std::vector<std::vector<float>> grads;
};

// Runs the operator on `context` with copies of `inputs`, which are on the CPU. Errors are those of
// binding, Forward and Backward.
absl::StatusOr<OperatorRun> RunOperator(const std::string& op, const AttrMap& attrs,
                                        const std::vector<NDArray>& inputs,
                                        Context context = Context::Cpu());

}  // namespace cooper

#endif  // COOPER_TESTS_OPERATORS_RUN_OPERATOR_H_
