#ifndef COOPER_TESTS_OPERATORS_GRADIENT_CHECKER_H_
#define COOPER_TESTS_OPERATORS_GRADIENT_CHECKER_H_

// Compares the gradients of one operator, bound by the executor in float64, with central
// differences of its outputs. For tables of tests, in which an operator is a row.

#include <string>
#include <vector>

#include "ndarray/base/shape.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

struct GradientCase {
  struct Input {
    std::string name;
    Shape shape;
    // If empty, the input has random numbers and its gradient is checked. Otherwise the input has
    // these elements, such as indices, and no gradient unless `has_gradient` is set.
    std::vector<double> values = {};
    bool has_gradient = false;
  };

  std::string name;
  std::string op;
  AttrMap attrs;
  std::vector<Input> inputs;
};

// Checks every gradient under grad_req write and add, and with each one null in turn. Failures are
// GoogleTest expectations.
void CheckGradient(const GradientCase& test);

}  // namespace cooper

#endif  // COOPER_TESTS_OPERATORS_GRADIENT_CHECKER_H_
