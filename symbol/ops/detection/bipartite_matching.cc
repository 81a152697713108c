// Matches rows with columns, the best pair first. MXNet: src/operator/contrib/bounding_box.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/bipartite_matching_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Shape rule: data (..., rows, columns); outputs (..., rows) and (..., columns).
absl::Status BipartiteMatchingShape(ShapeContext& c) {
  using enum BipartiteMatchingArrays::Output;
  const PartialShape& data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' ", data.ToString(), " is not (..., rows, columns)"));
  }
  for (const int output : {kRowMatch, kColumnMatch}) {
    PartialShape matches = PartialShape::OfRank(data.rank() - 1);
    for (int axis = 0; axis < matches.rank(); ++axis) matches[axis] = data[axis];
    if (output == kColumnMatch) matches[matches.rank() - 1] = data[data.rank() - 1];
    COOPER_RETURN_IF_ERROR(c.SetOutput(output, matches));
  }
  return absl::OkStatus();
}

COOPER_REGISTER_OP(_contrib_bipartite_matching)
    .Describe(
        "The column matched with each row of scores, and the row matched with each column; -1 for "
        "none. No gradient flows through it.")
    .Param<BipartiteMatchingParam>()
    .Inputs({"data"})
    .Outputs({"output0", "output1"})
    .Shape(BipartiteMatchingShape)
    .Type(SameType);

COOPER_OP_EXAMPLE(_contrib_bipartite_matching, {{"threshold", "0.1"}}, {{2, 4, 3}});

}  // namespace
}  // namespace cooper
