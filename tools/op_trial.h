#ifndef COOPER_TOOLS_OP_TRIAL_H_
#define COOPER_TOOLS_OP_TRIAL_H_

// A call of an operator that works, found by trying, and the shapes and dtypes that follow from it:
// what the reference of operators shows as an example.

#include <optional>
#include <string>
#include <vector>

#include "ndarray/base/partial_shape.h"
#include "symbol/schema/op.h"

namespace cooper {

struct OpTrial {
  AttrMap attrs;
  std::vector<PartialShape> inputs;  // of the first ones; of no known rank: it follows from others
};

// The example beside the schema (op_example.h), or the first of some calls with small shapes from
// which all others follow. Absent if there is none.
std::optional<OpTrial> FindOpTrial(const OpSchema& op);

// "data (2, 3), weight (2, 3), bias (2,) -> output (2, 2)  with num_hidden=2". `trial` is one that
// FindOpTrial gave.
std::string TrialShapesText(const OpSchema& op, const OpTrial& trial);

// Shape and dtype of the input `name` where the inputs before it are float32; if the call has no
// such input, where `more` joins the attributes: "(2,) of any dtype, with use_length=True". Empty
// if nothing follows.
std::string TrialArrayText(const OpSchema& op, const OpTrial& trial, const std::string& name,
                           const AttrMap& more);

}  // namespace cooper

#endif  // COOPER_TOOLS_OP_TRIAL_H_
