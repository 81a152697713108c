// Reorders a weight of a recurrent layer for _prepared_rnn. Not in symbol files: a graph pass
// inserts it where weights are constant.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rnn/pack_rnn_weight_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status PackShape(ShapeContext& c) {
  const int64_t gates = c.param<PackRNNWeightParam>().num_gates;
  COOPER_RETURN_IF_ERROR(c.SetInput(0, PartialShape::OfRank(2), "(gates * state_size, columns)"));
  const int64_t rows = c.input(0)[0];
  if (rows == kUnknownDim) return absl::OkStatus();
  if (rows % gates != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("weight has ", rows, " rows, expected a multiple of num_gates = ", gates));
  }
  return c.SetOutput(0, PackedRNNWeightShape(gates, rows / gates, c.input(0)[1]),
                     "(panels, columns, gates, features of a panel)");
}

COOPER_REGISTER_OP(_pack_rnn_weight)
    .Describe("Weights of a recurrent layer in the order in which _prepared_rnn reads them.")
    .Param<PackRNNWeightParam>()
    .Inputs({"weight"})
    .Shape(PackShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
