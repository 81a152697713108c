// GridGenerator, BilinearSampler and SpatialTransformer: sample images at the points of a grid.
// MXNet: src/operator/grid_generator.cc, bilinear_sampler.cc, spatial_transformer.cc.
//
// A grid is (batch_size, 2, height, width): the x and y coordinates, from -1 to 1, of each
// position's source.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/sampler_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status CheckTarget(const std::vector<int64_t>& target) {
  if (target.size() == 2 && target[0] > 0 && target[1] > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("target_shape has to be two numbers above 0");
}

// Shape rule: data (batch_size, 6) for affine, the grid's shape for warp.
absl::Status GridGeneratorShape(ShapeContext& c) {
  const auto& param = c.param<GridGeneratorParam>();
  if (param.transform_type == GridGeneratorParam::kWarp) {
    if (c.input(0).rank_known()) {
      COOPER_RETURN_IF_ERROR(c.SetInput(0, {kUnknownDim, 2, kUnknownDim, kUnknownDim},
                                        "(batch_size, 2, height, width)"));
    }
    return SameShape(c);
  }
  COOPER_RETURN_IF_ERROR(CheckTarget(param.target_shape));
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(c.SetInput(0, {kUnknownDim, 6}, "(batch_size, 6)"));
  return c.SetOutput(0, {c.input(0)[0], 2, param.target_shape[0], param.target_shape[1]});
}

absl::StatusOr<std::vector<NodeEntry>> GridGeneratorGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_GridGenerator", {head});
}

using enum BilinearSamplerArrays::Input;

// Shape rule: data (batch_size, channels, ...), grid (batch_size, 2, height, width), output
// (batch_size, channels, height, width).
absl::Status BilinearSamplerShape(ShapeContext& c) {
  if (!c.input(kData).rank_known() || !c.input(kGrid).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, PartialShape::OfRank(4), "4 axes: batch, channels, 2 more"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kGrid, {c.input(kData)[0], 2, kUnknownDim, kUnknownDim},
                                    "(batch_size, 2, height, width)"));
  const PartialShape& data = c.input(kData);
  const PartialShape& grid = c.input(kGrid);
  return c.SetOutput(0, {data[0], data[1], grid[2], grid[3]});
}

absl::StatusOr<std::vector<NodeEntry>> BilinearSamplerGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_BilinearSampler", {head, c.input(kData), c.input(kGrid)});
}

// Shape rule: data (batch_size, channels, ...), loc (batch_size, 6), output with target_shape's
// height and width.
absl::Status SpatialTransformerShape(ShapeContext& c) {
  const auto& param = c.param<SpatialTransformerParam>();
  COOPER_RETURN_IF_ERROR(CheckTarget(param.target_shape));
  if (!c.input(kData).rank_known()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kData, PartialShape::OfRank(4), "4 axes: batch, channels, 2 more"));
  const PartialShape& data = c.input(kData);
  COOPER_RETURN_IF_ERROR(
      c.SetInput(SpatialTransformerArrays::kLoc, {data[0], 6}, "(batch_size, 6)"));
  return c.SetOutput(0, {data[0], data[1], param.target_shape[0], param.target_shape[1]});
}

absl::StatusOr<std::vector<NodeEntry>> SpatialTransformerGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward("_backward_SpatialTransformer",
                    {head, c.input(kData), c.input(SpatialTransformerArrays::kLoc)});
}

COOPER_REGISTER_OP(GridGenerator)
    .Describe("The grid that an affine matrix or a flow makes, for BilinearSampler.")
    .Param<GridGeneratorParam>()
    .Inputs({"data"})
    .Shape(GridGeneratorShape)
    .Type(SameType)
    .Gradient(GridGeneratorGradient);

COOPER_REGISTER_OP(_backward_GridGenerator)
    .Describe("Gradient of GridGenerator.")
    .Param<GridGeneratorParam>()
    .Inputs({"ograd"})
    .Outputs({"data"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_REGISTER_OP(BilinearSampler)
    .Describe("data at the positions of grid, interpolated; 0 outside.")
    .Param<BilinearSamplerParam>()
    .Inputs({"data", "grid"})
    .Shape(BilinearSamplerShape)
    .Type(SameType)
    .Gradient(BilinearSamplerGradient);

COOPER_REGISTER_OP(_backward_BilinearSampler)
    .Describe("Gradients of BilinearSampler with respect to data and grid.")
    .Param<BilinearSamplerParam>()
    .Inputs({"ograd", "data", "grid"})
    .Outputs({"data", "grid"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_REGISTER_OP(SpatialTransformer)
    .Describe("data through the grid of the affine matrix loc.")
    .Param<SpatialTransformerParam>()
    .Inputs({"data", "loc"})
    .Shape(SpatialTransformerShape)
    .Type(SameType)
    .Gradient(SpatialTransformerGradient);

COOPER_REGISTER_OP(_backward_SpatialTransformer)
    .Describe("Gradients of SpatialTransformer with respect to data and loc.")
    .Param<SpatialTransformerParam>()
    .Inputs({"ograd", "data", "loc"})
    .Outputs({"data", "loc"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(GridGenerator, {{"transform_type", "affine"}, {"target_shape", "(4, 5)"}},
                  {{2, 6}});
COOPER_OP_EXAMPLE(SpatialTransformer,
                  {{"target_shape", "(4, 5)"},
                   {"transform_type", "affine"},
                   {"sampler_type", "bilinear"}},
                  {{2, 3, 4, 5}, {2, 6}});

}  // namespace
}  // namespace cooper
