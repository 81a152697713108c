#ifndef COOPER_TOOLS_OPS_OP_TRIAL_H_
#define COOPER_TOOLS_OPS_OP_TRIAL_H_

// Finds a valid call of an operator by trying, with the shapes and dtypes inferred from it: the
// example in the operator reference.

#include <optional>
#include <string>
#include <vector>

#include "ndarray/base/partial_shape.h"
#include "symbol/schema/op.h"

namespace cooper {

// The attributes and input shapes of a call.
struct OpTrial {
  AttrMap attrs;
  std::vector<PartialShape> inputs;  // of the first inputs; unknown rank: inferred from the others
};

// Returns the example beside the schema (op_example.h), or the first of several calls with small
// shapes from which all others can be inferred. Absent if there is none.
std::optional<OpTrial> FindOpTrial(const OpSchema& op);

// Returns "data (2, 3), weight (2, 3), bias (2,) -> output (2, 2) with num_hidden=2". `trial` must
// come from FindOpTrial.
std::string TrialShapesText(const OpSchema& op, const OpTrial& trial);

// Returns shape and dtype of the input `name` if the inputs before it are float32. If the call has
// no such input, adds `more` to the attributes: "(2,) of any dtype, with use_length=True". Empty if
// nothing can be inferred.
std::string TrialArrayText(const OpSchema& op, const OpTrial& trial, const std::string& name,
                           const AttrMap& more);

}  // namespace cooper

#endif  // COOPER_TOOLS_OPS_OP_TRIAL_H_
