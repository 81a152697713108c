// Pooling over one to three spatial axes. MXNet: src/operator/nn/pooling.cc, pooling_v1.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/pooling_param.h"
#include "symbol/ops/nn/quantize_param.h"
#include "symbol/ops/nn/quantized_rules.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status CheckParam(const PoolingParam& param) {
  if (param.pool_type == PoolingParam::kLp && !param.p_value.has_value()) {
    return absl::InvalidArgumentError("pool_type lp needs p_value");
  }
  if (param.global_pool) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("kernel", param.kernel, param.kernel, 1));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("stride", param.stride, param.kernel, 1));
  return CheckWindowTuple("pad", param.pad, param.kernel, 0);
}

// Returns the number of window positions on spatial axis i with `extent` elements.
absl::StatusOr<int64_t> Positions(const PoolingParam& param, int i, int64_t extent) {
  const int64_t padded = ExtentSum(extent, 2 * WindowValue(param.pad, i, 0));
  const int64_t stride = WindowValue(param.stride, i, 1);
  if (param.kernel[i] > padded) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", param.kernel[i], " exceeds spatial axis ", i, " of input 'data', ",
                     padded, " elements with its padding"));
  }
  switch (param.pooling_convention) {
    case PoolingParam::kValid:
      return (padded - param.kernel[i]) / stride + 1;
    case PoolingParam::kFull:
      return ExtentSum(padded - param.kernel[i], stride - 1) / stride + 1;
    case PoolingParam::kSame:
      return (padded - 1) / stride + 1;
  }
  return extent;
}

// Shape rule: data (batch_size, channels, spatial...) in the order of the layout.
absl::Status PoolingShapeOf(const PoolingParam& param, ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  const PartialShape& data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  const int spatial = static_cast<int>(param.kernel.size());
  if (data.rank() < 3 || data.rank() > 5 || (!param.global_pool && data.rank() != spatial + 2)) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' has shape ", data.ToString(), ", expected batch, channels and ",
                     param.global_pool ? "1 to 3" : absl::StrCat("the ", spatial, " of kernel"),
                     " spatial axes"));
  }
  const int first = ChannelsLast(param.layout) ? 1 : 2;
  PartialShape output = data;
  for (int i = 0; i < data.rank() - 2; ++i) {
    if (param.global_pool) {
      output[first + i] = 1;
    } else if (data.dim_known(first + i)) {
      COOPER_ASSIGN_OR_RETURN(output[first + i], Positions(param, i, data[first + i]));
    }
  }
  return c.SetOutput(0, output);
}

// Gradient rule: the gradient finds the maximum in data again, so that the output need not be kept.
template <typename Param>
absl::StatusOr<std::vector<NodeEntry>> PoolingGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  std::vector<NodeEntry> inputs = {head};
  const auto type = c.param<Param>().pool_type;
  if (type == PoolingParam::kMax || type == PoolingParam::kLp) inputs.push_back(c.input(0));
  return c.Backward(absl::StrCat("_backward_", c.call().op->name()), std::move(inputs));
}

template <typename Param>
OpBuilder Forward(const char* name) {
  return OpBuilder(name)
      .Param<Param>()
      .Inputs({"data"})
      .Shape([](ShapeContext& c) { return PoolingShapeOf(c.param<Param>(), c); })
      .Type(SameType)
      .Gradient(PoolingGradient<Param>)
      .Kind(OpKind::kPooling)
      .Summary([](AttrMap& params) {
        const bool global = params["global_pool"] == "True";
        return absl::StrCat(params["pool_type"], ", ", global ? "global" : WindowSummary(params));
      });
}

template <typename Param>
OpBuilder Backward(const char* name) {
  return OpBuilder(name)
      .Describe("Gradient with respect to data.")
      .Param<Param>()
      .Inputs([](const OpCall& call) -> OpSchema::Names {
        const auto type = call.param<Param>().pool_type;
        if (type == PoolingParam::kMax || type == PoolingParam::kLp) return {"ograd", "data"};
        return {"ograd"};
      })
      .Outputs({"data"})
      .Shape(GradientShape)
      .Type(GradientType);
}

// Shape rule of _contrib_quantized_pooling: that of Pooling for output 0. Only the pool types and
// layouts that MXNet supports are accepted.
absl::Status QuantizedPoolingShape(ShapeContext& c) {
  const auto& param = c.param<PoolingParam>();
  if (param.pool_type != PoolingParam::kMax && param.pool_type != PoolingParam::kAvg) {
    return absl::InvalidArgumentError("pool_type has to be max or avg");
  }
  if (ChannelsLast(param.layout)) {
    return absl::InvalidArgumentError("layout has to be NCHW or NCDHW");
  }
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, QuantizedArrays::kMin));
  return PoolingShapeOf(param, c);
}

absl::Status QuantizedPoolingType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(SetRangeTypes(c, QuantizedArrays::kMin));
  COOPER_RETURN_IF_ERROR(c.SetInput(QuantizedArrays::kData, c.output(0)));
  return c.SetOutput(0, c.input(QuantizedArrays::kData));
}

COOPER_REGISTER_OP(_contrib_quantized_pooling)
    .Describe("Maximum or mean of the 8-bit integers under a moving window, with their range.")
    .Param<PoolingParam>()
    .Inputs({"data", "min_data", "max_data"})
    .Outputs({"output", "min_output", "max_output"})
    .Shape(QuantizedPoolingShape)
    .Type(QuantizedPoolingType)
    .Kind(OpKind::kPooling);

const OpRegistrar kRegistrars[] = {
    Forward<PoolingParam>("Pooling")
        .Describe("Maximum, mean or sum of the elements under a moving window.")
        .Alias("_npx_pooling"),
    Backward<PoolingParam>("_backward_Pooling"),
    Forward<PoolingV1Param>("Pooling_v1").Describe("Pooling as it was, for old files."),
    Backward<PoolingV1Param>("_backward_Pooling_v1"),
};

COOPER_OP_EXAMPLE(Pooling, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}}, {{2, 3, 4, 6}});
COOPER_OP_EXAMPLE(Pooling_v1, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}}, {{2, 3, 4, 6}});
COOPER_OP_EXAMPLE(_contrib_quantized_pooling, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}},
                  {{2, 3, 4, 6}, {1}, {1}});

}  // namespace
}  // namespace cooper
