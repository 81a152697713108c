// Splits an array along one axis. MXNet: src/operator/slice_channel-inl.h and, for _split_v2,
// src/operator/tensor/matrix_op-inl.h.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/split_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

template <typename Param>
int AxisOf(const OpCall& call) {
  return call.param<Param>().axis;
}

OpSchema::Names Numbered(const char* name, int count) {
  OpSchema::Names names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(name, i));
  return names;
}

// Returns `shape` without `axis` if `squeeze`, else with `extent` at `axis`.
PartialShape PartShape(PartialShape shape, int axis, int64_t extent, bool squeeze) {
  if (!squeeze) {
    shape[axis] = extent;
    return shape;
  }
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.erase(dims.begin() + axis);
  return PartialShape(dims);
}

// Returns the known extents of the whole array: those of `part` but for `axis`.
PartialShape WholeShape(const PartialShape& part, int axis, bool squeeze) {
  std::vector<int64_t> dims(part.dims().begin(), part.dims().end());
  if (squeeze) {
    dims.insert(dims.begin() + axis, kUnknownDim);
  } else {
    dims[axis] = kUnknownDim;
  }
  return PartialShape(dims);
}

// Returns the rank of data, from data itself or from any of the parts; -1 if unknown.
int RankOfWhole(const ShapeContext& c, bool squeeze) {
  if (c.input(0).rank_known()) return c.input(0).rank();
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (c.output(i).rank_known()) return c.output(i).rank() + (squeeze ? 1 : 0);
  }
  return -1;
}

// Merges the shapes of data and of its parts with extents `parts` (kUnknownDim where unknown).
absl::Status SplitShape(ShapeContext& c, int axis, bool squeeze,
                        const std::vector<int64_t>& parts) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (!c.output(i).rank_known()) continue;
    if (c.output(i).rank() + (squeeze ? 1 : 0) <= axis) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", i, " has shape ", c.output(i).ToString(),
                       ", which cannot be a part of an array split along axis ", axis));
    }
    COOPER_RETURN_IF_ERROR(
        c.SetInput(0, WholeShape(c.output(i), axis, squeeze), "the parts' other extents"));
  }
  if (!c.input(0).rank_known()) return absl::OkStatus();
  for (int i = 0; i < c.num_outputs(); ++i) {
    COOPER_RETURN_IF_ERROR(
        c.SetOutput(i, PartShape(c.input(0), axis, parts[i], squeeze), "a part of data"));
  }
  int64_t total = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    total = ExtentSum(total, squeeze ? 1 : c.output(i)[axis]);
  }
  PartialShape whole = PartialShape::OfRank(c.input(0).rank());
  whole[axis] = total;
  return c.SetInput(0, whole, "the parts together");
}

absl::Status SliceChannelShape(ShapeContext& c) {
  const auto& param = c.param<SliceChannelParam>();
  const int rank = RankOfWhole(c, param.squeeze_axis);
  if (rank < 0) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, rank));
  COOPER_RETURN_IF_ERROR(c.SetInput(0, PartialShape::OfRank(rank)));
  const PartialShape data = c.input(0);
  int64_t part = kUnknownDim;
  if (data.dim_known(axis)) {
    if (data[axis] % param.num_outputs != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("num_outputs ", param.num_outputs, " does not divide extent ", data[axis],
                       " of axis ", axis, " of input 'data' ", data.ToString()));
    }
    part = data[axis] / param.num_outputs;
    if (param.squeeze_axis && part != 1) {
      return absl::InvalidArgumentError(absl::StrCat("squeeze_axis needs extent ",
                                                     param.num_outputs, " = num_outputs at axis ",
                                                     axis, " of input 'data' ", data.ToString()));
    }
  } else if (!param.squeeze_axis) {  // all parts are equal: one gives the others
    for (int i = 0; i < c.num_outputs(); ++i) {
      const PartialShape& out = c.output(i);
      if (out.rank() == rank && out.dim_known(axis)) part = out[axis];
    }
  }
  return SplitShape(c, axis, param.squeeze_axis, std::vector<int64_t>(c.num_outputs(), part));
}

absl::StatusOr<std::vector<NodeEntry>> SplitGradient(GradientContext& c, const char* backward) {
  std::vector<NodeEntry> heads;
  for (int i = 0; i < c.num_outputs(); ++i) {
    COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(i));
    heads.push_back(head);
  }
  return c.Backward(backward, std::move(heads));
}

COOPER_REGISTER_OP(SliceChannel)
    .Describe("num_outputs equal parts of data along axis.")
    .Alias("split")
    .Param<SliceChannelParam>()
    .Inputs({"data"})
    .Outputs([](const OpCall& call) {
      return Numbered("output", call.param<SliceChannelParam>().num_outputs);
    })
    .Shape(SliceChannelShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) { return SplitGradient(c, "_backward_SliceChannel"); })
    .Splits(AxisOf<SliceChannelParam>)
    .Kind(OpKind::kShaping)
    .Summary("num_outputs");

COOPER_REGISTER_OP(_backward_SliceChannel)
    .Describe("The parts' gradients put together along axis.")
    .Param<SliceChannelParam>()
    .Inputs([](const OpCall& call) {
      return Numbered("ograd", call.param<SliceChannelParam>().num_outputs);
    })
    .Shape(GradientShape)
    .Type(SameType)
    .Joins(AxisOf<SliceChannelParam>);

absl::Status SplitV2Shape(ShapeContext& c) {
  const auto& param = c.param<SplitParam>();
  const int count = param.num_outputs();
  if (count == 0) return absl::InvalidArgumentError("neither indices nor sections are given");
  const int rank = RankOfWhole(c, param.squeeze_axis);
  if (rank < 0) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, rank));
  COOPER_RETURN_IF_ERROR(c.SetInput(0, PartialShape::OfRank(rank)));
  const PartialShape data = c.input(0);
  std::vector<int64_t> parts(count, kUnknownDim);
  const int64_t extent = data[axis];
  for (int i = 0; i < count; ++i) {
    if (param.sections > 0) {
      if (extent != kUnknownDim) parts[i] = extent / count + (i < extent % count ? 1 : 0);
      continue;
    }
    const int64_t end = i + 1 < count ? param.indices[i + 1] : extent;
    if (end == kUnknownDim) continue;
    const int64_t begin = param.indices[i];
    if (begin < 0 || (extent != 0 && end < begin) || (extent > 0 && end > extent)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "part ", i, " of indices ", PrintParamText(param.indices), " is [", begin, ", ", end,
          "), which is not a range of axis ", axis, " of input 'data' ", data.ToString()));
    }
    parts[i] = extent == 0 ? 0 : end - begin;
  }
  for (int i = 0; param.squeeze_axis && i < count; ++i) {
    if (parts[i] != kUnknownDim && parts[i] != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("squeeze_axis needs parts of extent 1, part ", i, " has ", parts[i]));
    }
  }
  return SplitShape(c, axis, param.squeeze_axis, parts);
}

OpSchema::Names SplitV2Outputs(const OpCall& call) {
  const int count = call.param<SplitParam>().num_outputs();
  return count == 1 ? OpSchema::Names{"output"} : Numbered("output", count);
}

COOPER_REGISTER_OP(_split_v2)
    .Describe("Parts of data along axis, nearly equal or beginning at indices.")
    .Alias("_npi_split")
    .Param<SplitParam>()
    .Inputs({"data"})
    .Outputs(SplitV2Outputs)
    .Shape(SplitV2Shape)
    .Type(SameType)
    .Gradient([](GradientContext& c) { return SplitGradient(c, "_split_v2_backward"); })
    .Splits(AxisOf<SplitParam>);

COOPER_REGISTER_OP(_split_v2_backward)
    .Describe("The parts' gradients put together along axis.")
    .Param<SplitParam>()
    .Inputs([](const OpCall& call) {
      return Numbered("ograd", call.param<SplitParam>().num_outputs());
    })
    .Shape(GradientShape)
    .Type(SameType)
    .Joins(AxisOf<SplitParam>);

COOPER_OP_EXAMPLE(_split_v2, {{"indices", "(0, 2)"}, {"axis", "1"}}, {{2, 6}});

}  // namespace
}  // namespace cooper
