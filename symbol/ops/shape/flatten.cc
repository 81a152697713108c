// Operators that keep the elements and change the axes: merge all but the first, add an axis of
// extent 1, or remove such axes.

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/expand_dims_param.h"
#include "symbol/ops/shape/reshape_gradient.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Shape rule: (batch_size, ...) becomes (batch_size, product of the others). As in MXNet, nothing
// is inferred from a partially known shape.
absl::Status FlattenShape(ShapeContext& c) {
  const PartialShape data = c.input(0);
  if (!data.IsFull()) return absl::OkStatus();
  if (data.rank() == 0) return absl::InvalidArgumentError("input 'data' is a scalar");
  const int64_t rest = PartialShape(data.dims().subspan(1)).num_elements();
  return c.SetOutput(0, {data[0], rest}, "(batch_size, all other axes)");
}

COOPER_REGISTER_OP(Flatten)
    .Describe("data with all axes but the first taken as one.")
    .Alias("flatten")
    .Alias("_npx_batch_flatten")
    .Inputs({"data"})
    .Shape(FlattenShape)
    .Type(SameType)
    .Gradient(ReshapeGradient)
    .View();

absl::Status ExpandDimsShape(ShapeContext& c) {
  const int given = c.param<ExpandDimsParam>().axis;
  const PartialShape data = c.input(0), output = c.output(0);
  if (!data.rank_known() && !output.rank_known()) return absl::OkStatus();
  const int rank = data.rank_known() ? data.rank() + 1 : output.rank();
  const int axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    return absl::InvalidArgumentError(absl::StrCat("axis ", given, " is not in [", -rank, ", ",
                                                   rank - 1, "], for input 'data' of rank ",
                                                   rank - 1));
  }
  PartialShape expanded = PartialShape::OfRank(rank);
  expanded[axis] = 1;
  if (data.rank_known()) {
    for (int i = 0; i < rank; ++i) {
      if (i != axis) expanded[i] = data[i < axis ? i : i - 1];
    }
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, expanded, "data with an axis of 1 more"));
  PartialShape reduced = PartialShape::OfRank(rank - 1);
  for (int i = 0; i < rank - 1; ++i) reduced[i] = c.output(0)[i < axis ? i : i + 1];
  return c.SetInput(0, reduced, "the output without its new axis");
}

COOPER_REGISTER_OP(expand_dims)
    .Describe("data with an axis of extent 1 inserted.")
    .Alias("_npi_expand_dims")
    .Param<ExpandDimsParam>()
    .Inputs({"data"})
    .Shape(ExpandDimsShape)
    .Type(SameType)
    .Gradient(ReshapeGradient)
    .View();

struct SqueezeParam {
  std::optional<std::vector<int64_t>> axis;

  static void Declare(ParamDeclaration<SqueezeParam>& d) {
    d.Field("axis", &SqueezeParam::axis).Doc("axes to remove; None: all of extent 1");
  }
};

absl::Status SqueezeShape(ShapeContext& c) {
  const auto& param = c.param<SqueezeParam>();
  const PartialShape data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  std::vector<bool> remove(data.rank(), false);
  if (param.axis.has_value()) {
    for (int64_t given : *param.axis) {
      const int64_t axis = given < 0 ? given + data.rank() : given;
      if (axis < 0 || axis >= data.rank()) {
        return absl::InvalidArgumentError(
            absl::StrCat("axis ", given, " is out of range for input 'data' ", data.ToString()));
      }
      if (remove[axis]) {
        return absl::InvalidArgumentError(absl::StrCat("axis ", given, " is given twice"));
      }
      if (data.dim_known(axis) && data[axis] != 1) {
        return absl::InvalidArgumentError(absl::StrCat("axis ", given, " of input 'data' ",
                                                       data.ToString(), " has extent ", data[axis],
                                                       ", expected 1"));
      }
      remove[axis] = true;
    }
  } else {
    if (!data.IsFull()) return absl::OkStatus();
    for (int i = 0; i < data.rank(); ++i) remove[i] = data[i] == 1;
  }
  std::vector<int64_t> kept;
  for (int i = 0; i < data.rank(); ++i) {
    if (!remove[i]) kept.push_back(data[i]);
  }
  // MXNet keeps one axis of an array whose extents are all 1.
  if (kept.empty()) kept.push_back(1);
  return c.SetOutput(0, PartialShape(kept), "data without axes of 1");
}

COOPER_REGISTER_OP(squeeze)
    .Describe("data without axes of extent 1.")
    .Param<SqueezeParam>()
    .Inputs({"data"})
    .Shape(SqueezeShape)
    .Type(SameType)
    .Gradient(ReshapeGradient)
    .View();

}  // namespace
}  // namespace cooper
