// Slices arrays. MXNet: src/operator/tensor/matrix_op-inl.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/slice_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

template <typename Param>
SliceRange RangeOf(const OpCall& call, int axis, const Shape& whole, const Shape& part) {
  return RangeAlong(axis, call.param<Param>(), whole, part);
}

template <const char* kBackward>
absl::StatusOr<std::vector<NodeEntry>> PartGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward(kBackward, {head});
}

absl::Status CheckSlice(const SliceParam& param, const PartialShape& data) {
  const size_t count = param.begin.size();
  if (count != param.end.size() || (!param.step.empty() && count != param.step.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("begin ", PrintParamText(param.begin), ", end ", PrintParamText(param.end),
                     " and step ", PrintParamText(param.step), " must have as many elements"));
  }
  if (static_cast<int>(count) > data.rank()) {
    return absl::InvalidArgumentError(absl::StrCat("begin ", PrintParamText(param.begin),
                                                   " has more elements than input 'data' ",
                                                   data.ToString(), " has axes"));
  }
  for (const auto& step : param.step) {
    if (step == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("step ", PrintParamText(param.step), " has a 0"));
    }
  }
  return absl::OkStatus();
}

// Returns the slice's extents, as far as data's are known.
PartialShape SlicedShape(const SliceParam& param, PartialShape data) {
  for (int i = 0; i < data.rank(); ++i) {
    if (data.dim_known(i)) data[i] = param.range(i, data[i]).extent;
  }
  return data;
}

absl::Status SliceShape(ShapeContext& c) {
  const auto& param = c.param<SliceParam>();
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckSlice(param, c.input(0)));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, SlicedShape(param, c.input(0)), "[begin, end) of data"));
  PartialShape known = c.output(0);
  for (size_t i = 0; i < param.begin.size(); ++i) known[i] = kUnknownDim;
  return c.SetInput(0, known, "the output's axes that are not sliced");
}

constexpr char kBackwardSlice[] = "_backward_slice";

COOPER_REGISTER_OP(slice)
    .Describe("The part of data from begin to end, step apart, along each axis.")
    .Alias("crop")
    .Alias("_sparse_slice")
    .Alias("_npx_slice")
    .Alias("_npi_slice")
    .Param<SliceParam>()
    .Inputs({"data"})
    .Shape(SliceShape)
    .Type(SameType)
    .Gradient(PartGradient<kBackwardSlice>)
    .Slices(RangeOf<SliceParam>)
    .Kind(OpKind::kShaping);

COOPER_REGISTER_OP(_backward_slice)
    .Describe("Zeros with ograd in the part that slice takes.")
    .Param<SliceParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

absl::Status SliceAssignShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(0)));
  COOPER_RETURN_IF_ERROR(c.SetInput(0, c.output(0)));
  const auto& param = c.param<SliceParam>();
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckSlice(param, c.input(0)));
  if (c.num_inputs() == 1) return absl::OkStatus();
  return c.SetInput(1, SlicedShape(param, c.input(0)), "[begin, end) of lhs");
}

COOPER_REGISTER_OP(_slice_assign)
    .Describe("lhs with rhs in the part that slice would take.")
    .Alias("_crop_assign")
    .Alias("_npi_slice_assign")
    .Param<SliceParam>()
    .Inputs({"lhs", "rhs"})
    .Shape(SliceAssignShape)
    .Type(SameType)
    .InPlace({{0, 0}});

COOPER_REGISTER_OP(_slice_assign_scalar)
    .Describe("data with a number in the part that slice would take.")
    .Alias("_crop_assign_scalar")
    .Alias("_npi_slice_assign_scalar")
    .Param<SliceAssignScalarParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(SameShape(c));
      if (!c.input(0).rank_known()) return absl::OkStatus();
      return CheckSlice(c.param<SliceAssignScalarParam>(), c.input(0));
    })
    .Type(SameType)
    .InPlace({{0, 0}});

absl::Status SliceAxisShape(ShapeContext& c) {
  const auto& param = c.param<SliceAxisParam>();
  const PartialShape data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, data.rank()));
  PartialShape part = data;
  if (data.dim_known(axis)) {
    const auto [begin, step, extent] = param.range(data[axis]);
    if (data[axis] > 0 && (begin < 0 || extent <= 0 || begin + extent > data[axis])) {
      return absl::InvalidArgumentError(
          absl::StrCat("begin ", param.begin, " and end ", PrintParamText(param.end), " are [",
                       begin, ", ", begin + extent, "), which is not a range of axis ", axis,
                       " of input 'data' ", data.ToString()));
    }
    part[axis] = extent;
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, part, "[begin, end) of data"));
  PartialShape known = c.output(0);
  known[axis] = kUnknownDim;
  return c.SetInput(0, known, "the output's axes that are not sliced");
}

constexpr char kBackwardSliceAxis[] = "_backward_slice_axis";

COOPER_REGISTER_OP(slice_axis)
    .Describe("The part of data from begin to end along one axis.")
    .Param<SliceAxisParam>()
    .Inputs({"data"})
    .Shape(SliceAxisShape)
    .Type(SameType)
    .Gradient(PartGradient<kBackwardSliceAxis>)
    .Slices(RangeOf<SliceAxisParam>)
    .Kind(OpKind::kShaping);

COOPER_REGISTER_OP(_backward_slice_axis)
    .Describe("Zeros with ograd in the part that slice_axis takes.")
    .Param<SliceAxisParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

// Only the schema has this struct: the kernel uses nothing but the shapes.
struct SliceLikeParam {
  std::optional<std::vector<int64_t>> axes = std::vector<int64_t>();

  static void Declare(ParamDeclaration<SliceLikeParam>& d) {
    d.Field("axes", &SliceLikeParam::axes)
        .Doc("the axes that are cut; empty: all; None: none, as in MXNet");
  }
};

absl::Status SliceLikeShape(ShapeContext& c) {
  const auto& param = c.param<SliceLikeParam>();
  const PartialShape data = c.input(0), like = c.input(1);
  if (!data.rank_known() || !like.rank_known()) return absl::OkStatus();
  std::vector<int> axes;
  if (!param.axes.has_value()) return c.SetOutput(0, data, "data, of which no axis is cut");
  for (int64_t given : *param.axes) {
    COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(given, data.rank()));
    axes.push_back(axis);
  }
  if (param.axes->empty()) {
    if (data.rank() != like.rank()) {
      return absl::InvalidArgumentError(absl::StrCat("inputs 'data' ", data.ToString(),
                                                     " and 'shape_like' ", like.ToString(),
                                                     " differ in rank, and no axes are given"));
    }
    for (int i = 0; i < data.rank(); ++i) axes.push_back(i);
  }
  PartialShape part = data;
  for (int axis : axes) {
    if (axis >= like.rank()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input 'shape_like' ", like.ToString(), " has no axis ", axis));
    }
    part[axis] = like[axis];
    if (data.dim_known(axis) && like.dim_known(axis) && like[axis] > data[axis]) {
      return absl::InvalidArgumentError(
          absl::StrCat("extent ", like[axis], " of axis ", axis, " of input 'shape_like' ",
                       like.ToString(), " is larger than that of input 'data' ", data.ToString()));
    }
  }
  return c.SetOutput(0, part, "data cut to shape_like");
}

absl::Status FirstInputType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(0)));
  return c.SetInput(0, c.output(0));
}

constexpr char kBackwardSliceLike[] = "_backward_slice_like";

COOPER_REGISTER_OP(slice_like)
    .Describe("The first part of data that is as large as shape_like.")
    .Param<SliceLikeParam>()
    .Inputs({"data", "shape_like"})
    .Shape(SliceLikeShape)
    .Type(FirstInputType)
    .Gradient(PartGradient<kBackwardSliceLike>)
    .Slices([](const OpCall&, int axis, const Shape& whole, const Shape& part) {
      return RangeAlong(axis, LeadingPart(), whole, part);
    })
    .Kind(OpKind::kShaping);

COOPER_REGISTER_OP(_backward_slice_like)
    .Describe("ograd, with zeros behind it.")
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

OpSchema::Names CropInputs(const OpCall& call) {
  if (call.param<CropParam>().num_args == 1) return {"data"};
  return {"data", "crop_like"};
}

// Shape rule: data (batch_size, channels, height, width).
absl::Status CropShape(ShapeContext& c) {
  const auto& param = c.param<CropParam>();
  const bool like = c.num_inputs() == 2;
  if (param.offset.size() != 2 || (!like && param.h_w.size() != 2)) {
    return absl::InvalidArgumentError("offset and h_w must have two elements, for y and x");
  }
  if (!like && (param.h_w[0] < 1 || param.h_w[1] < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("h_w is ", PrintParamText(param.h_w), ", expected extents of at least 1"));
  }
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).rank_known()) return absl::OkStatus();
    if (c.input(i).rank() != 4) {
      return absl::InvalidArgumentError(
          absl::StrCat("inputs must have rank 4, one has shape ", c.input(i).ToString()));
    }
  }
  const PartialShape data = c.input(0);
  PartialShape part = data;
  for (int i = 0; i < 2; ++i) {
    const int64_t whole = data[2 + i];
    const int64_t extent = like ? c.input(1)[2 + i] : param.h_w[i];
    part[2 + i] = extent;
    if (extent == kUnknownDim || whole == kUnknownDim) continue;
    const int64_t begin = param.begin(i, whole, extent);
    if (extent < 1 || begin < 0 || begin > whole - extent) {
      return absl::InvalidArgumentError(absl::StrCat(extent, " elements from ", begin,
                                                     " on are not a part of axis ", 2 + i,
                                                     " of input 'data' ", data.ToString()));
    }
  }
  return c.SetOutput(0, part, "the part of data");
}

constexpr char kBackwardCrop[] = "_backward_Crop";

COOPER_REGISTER_OP(Crop)
    .Describe("Rows and columns of images, as many as h_w says or crop_like has.")
    .Param<CropParam>()
    .VariadicInputs("num_args")
    .Inputs(CropInputs)
    .Shape(CropShape)
    .Type(SameType)
    .Gradient(PartGradient<kBackwardCrop>)
    .Slices(RangeOf<CropParam>);

COOPER_REGISTER_OP(_backward_Crop)
    .Describe("Zeros with ograd in the part that Crop takes.")
    .Param<CropParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
