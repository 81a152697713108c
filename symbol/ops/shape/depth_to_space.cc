// Moves channels into blocks of pixels, and back. MXNet: src/operator/tensor/matrix_op-inl.h.

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/depth_to_space_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Shape rule: deep (n, c * b * b, h, w), wide (n, c, h * b, w * b).
absl::Status DeepAndWide(ShapeContext& c, bool input_is_deep) {
  const int64_t b = c.param<DepthToSpaceParam>().block_size;
  PartialShape deep = PartialShape::OfRank(4), wide = deep;
  PartialShape& input = input_is_deep ? deep : wide;
  PartialShape& output = input_is_deep ? wide : deep;
  if (!input.Merge(c.input(0))) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' has shape ", c.input(0).ToString(), ", expected rank 4"));
  }
  output.Merge(c.output(0));
  for (int i = 0; i < 4; ++i) {
    const int64_t by_deep = i == 1 ? b * b : 1, by_wide = i > 1 ? b : 1;
    for (auto [from, divisor, to, factor] :
         {std::tuple{&deep, by_deep, &wide, by_wide}, std::tuple{&wide, by_wide, &deep, by_deep}}) {
      if (!from->dim_known(i)) continue;
      if ((*from)[i] % divisor != 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("extent ", (*from)[i], " of axis ", i, " of shape ", from->ToString(),
                         " is not a multiple of ", divisor, ", for block_size ", b));
      }
      const int64_t extent = ExtentProduct((*from)[i] / divisor, factor);
      if (!to->dim_known(i)) (*to)[i] = extent;
      if ((*to)[i] != extent) {
        return absl::InvalidArgumentError(absl::StrCat(
            "extent ", (*from)[i], " of axis ", i, " of shape ", from->ToString(), " makes ",
            extent, " for block_size ", b, ", expected that of shape ", to->ToString()));
      }
    }
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(0, input, "by block_size"));
  return c.SetOutput(0, output, "by block_size");
}

absl::StatusOr<std::vector<NodeEntry>> Inverse(GradientContext& c, const char* op) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  const int64_t block_size = c.param<DepthToSpaceParam>().block_size;
  COOPER_ASSIGN_OR_RETURN(NodeEntry gradient,
                          c.Call(op, {head}, {{"block_size", PrintParamText(block_size)}}));
  return std::vector<NodeEntry>{gradient};
}

COOPER_REGISTER_OP(depth_to_space)
    .Describe("Blocks of channels as blocks of pixels.")
    .Param<DepthToSpaceParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) { return DeepAndWide(c, true); })
    .Type(SameType)
    .Gradient([](GradientContext& c) { return Inverse(c, "space_to_depth"); });

COOPER_REGISTER_OP(space_to_depth)
    .Describe("Blocks of pixels as blocks of channels.")
    .Param<DepthToSpaceParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) { return DeepAndWide(c, false); })
    .Type(SameType)
    .Gradient([](GradientContext& c) { return Inverse(c, "depth_to_space"); });

COOPER_OP_EXAMPLE(depth_to_space, {{"block_size", "2"}}, {{2, 4, 3, 5}});

}  // namespace
}  // namespace cooper
