// Repeats or reverses elements. MXNet: src/operator/tensor/matrix_op-inl.h.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/tile_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

int64_t Times(int64_t extent, int64_t count) {
  return count == 0 ? 0 : ExtentProduct(extent, count);
}

absl::Status TileShape(ShapeContext& c) {
  const auto& reps = c.param<TileParam>().reps;
  const PartialShape data = c.input(0);
  for (int64_t count : reps) {
    if (count < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("reps ", PrintParamText(reps), " has a negative element"));
    }
  }
  if (!data.rank_known()) return absl::OkStatus();
  const int reps_rank = static_cast<int>(reps.size());
  const int rank = std::max(data.rank(), reps_rank);
  PartialShape tiled = PartialShape::OfRank(rank);
  for (int i = 0; i < rank; ++i) {
    const int data_axis = i - (rank - data.rank()), rep = i - (rank - reps_rank);
    tiled[i] = Times(data_axis < 0 ? 1 : data[data_axis], rep < 0 ? 1 : reps[rep]);
  }
  return c.SetOutput(0, tiled, "data's extents times reps");
}

template <const char* kBackward>
absl::StatusOr<std::vector<NodeEntry>> SumGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward(kBackward, {head});
}

constexpr char kBackwardTile[] = "_backward_tile";

COOPER_REGISTER_OP(tile)
    .Describe("data, reps times along each axis.")
    .Alias("_npi_tile")
    .Param<TileParam>()
    .Inputs({"data"})
    .Shape(TileShape)
    .Type(SameType)
    .Gradient(SumGradient<kBackwardTile>)
    .Kind(OpKind::kShaping);

COOPER_REGISTER_OP(_backward_tile)
    .Describe("The sum of ograd over the copies of data.")
    .Param<TileParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

absl::Status RepeatShape(ShapeContext& c) {
  const auto& param = c.param<RepeatParam>();
  PartialShape data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  if (!param.axis.has_value()) {
    return c.SetOutput(0, {Times(data.num_elements(), param.repeats)}, "repeats times data's size");
  }
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(*param.axis, data.rank()));
  if (param.repeats == 0) return c.SetOutput(0, {0}, "nothing, for repeats 0");
  data[axis] = Times(data[axis], param.repeats);
  return c.SetOutput(0, data, "data with axis repeats times as long");
}

constexpr char kBackwardRepeat[] = "_backward_repeat";

COOPER_REGISTER_OP(repeat)
    .Describe("data with every element of an axis repeated.")
    .Alias("_np_repeat")
    .Param<RepeatParam>()
    .Inputs({"data"})
    .Shape(RepeatShape)
    .Type(SameType)
    .Gradient(SumGradient<kBackwardRepeat>);

COOPER_REGISTER_OP(_backward_repeat)
    .Describe("The sum of ograd over the copies of each element.")
    .Param<RepeatParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

COOPER_REGISTER_OP(reverse)
    .Describe("data with the order of elements reversed along axes.")
    .Alias("flip")
    .Param<ReverseParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(SameShape(c));
      if (!c.input(0).rank_known()) return absl::OkStatus();
      for (int64_t axis : c.param<ReverseParam>().axis) {
        COOPER_RETURN_IF_ERROR(NormalizeAxis(axis, c.input(0).rank()).status());
      }
      return absl::OkStatus();
    })
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      COOPER_ASSIGN_OR_RETURN(
          NodeEntry gradient,
          c.Call("reverse", {head}, {{"axis", PrintParamText(c.param<ReverseParam>().axis)}}));
      return std::vector<NodeEntry>{gradient};
    });

}  // namespace
}  // namespace cooper
