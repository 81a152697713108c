// Reductions over axes, and broadcasts.

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "module/onnx/node_export.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/reduce/broadcast_param.h"
#include "symbol/ops/reduce/reduce_param.h"

namespace cooper {
namespace {

constexpr int kData = 0;

// Returns the reduced axes: those of the attribute, all if there are none, or the others.
absl::StatusOr<std::vector<int64_t>> ReducedAxes(const OptionalAxes& axes, bool exclude, int rank) {
  std::vector<bool> listed(rank);
  const bool all = !axes.has_value() || axes->empty();
  if (!all) {
    for (int64_t axis : *axes) {
      COOPER_ASSIGN_OR_RETURN(const int a, NormalizeAxis(axis, rank));
      listed[a] = true;
    }
  }
  std::vector<int64_t> reduced;
  for (int i = 0; i < rank; ++i) {
    if (all ? !exclude : listed[i] != exclude) reduced.push_back(i);
  }
  return reduced;
}

// Returns a reduction of `value`, whose result is given the shape of output `i`: cooper has no
// scalars and gives (1,).
absl::StatusOr<std::string> Reduce(NodeExport& c, absl::string_view op, const std::string& value,
                                   const std::vector<int64_t>& axes, bool keepdims, int i = 0) {
  if (axes.empty()) return value;
  const OnnxAttrs keep = {{"keepdims", int64_t{keepdims ? 1 : 0}}};
  std::string out;
  if (op == "ReduceSum") {
    out = c.Emit(op, {value, c.Ints(axes)}, keep);
  } else {
    OnnxAttrs attrs = keep;
    attrs.emplace_back("axes", axes);
    out = c.Emit(op, {value}, std::move(attrs));
  }
  const bool is_scalar = !keepdims && static_cast<int>(axes.size()) == c.rank(kData);
  return is_scalar && c.out_shape(i).size() == 1 ? c.Emit("Reshape", {out, c.Ints({1})}) : out;
}

template <const char* kOp>
absl::Status ExportReduce(NodeExport& c) {
  const auto& param = c.param<ReduceParam>();
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                          ReducedAxes(param.axis, param.exclude, c.rank(kData)));
  COOPER_ASSIGN_OR_RETURN(std::string out, Reduce(c, kOp, c.input(kData), axes, param.keepdims));
  c.Return(std::move(out));
  return absl::OkStatus();
}

constexpr char kSum[] = "ReduceSum", kMean[] = "ReduceMean", kProd[] = "ReduceProd",
               kMax[] = "ReduceMax", kMin[] = "ReduceMin";
COOPER_ONNX_EXPORT(sum, "ReduceSum", ExportReduce<kSum>);
COOPER_ONNX_EXPORT(mean, "ReduceMean", ExportReduce<kMean>);
COOPER_ONNX_EXPORT(prod, "ReduceProd", ExportReduce<kProd>);
COOPER_ONNX_EXPORT(max, "ReduceMax", ExportReduce<kMax>);
COOPER_ONNX_EXPORT(min, "ReduceMin", ExportReduce<kMin>);

// A reduction of the elements with `neutral` in place of NaN.
template <const char* kOp>
absl::Status ExportNanReduce(NodeExport& c) {
  const auto& param = c.param<ReduceParam>();
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                          ReducedAxes(param.axis, param.exclude, c.rank(kData)));
  const std::string is_nan = c.Emit("IsNaN", {c.input(kData)});
  const std::string neutral = c.Scalar(kOp == kSum ? 0 : 1);
  const std::string numbers = c.Emit("Where", {is_nan, neutral, c.input(kData)});
  COOPER_ASSIGN_OR_RETURN(std::string out, Reduce(c, kOp, numbers, axes, param.keepdims));
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(nansum, "IsNaN, Where, ReduceSum", ExportNanReduce<kSum>);
COOPER_ONNX_EXPORT(nanprod, "IsNaN, Where, ReduceProd", ExportNanReduce<kProd>);

absl::Status ExportNorm(NodeExport& c) {
  const auto& param = c.param<NormParam>();
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                          ReducedAxes(param.axis, false, c.rank(kData)));
  const std::string data = c.Cast(c.input(kData), c.type(kData), c.out_type());
  COOPER_ASSIGN_OR_RETURN(std::string out, Reduce(c, param.ord == 1 ? "ReduceL1" : "ReduceL2", data,
                                                  axes, param.keepdims));
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(norm, "ReduceL1, ReduceL2", ExportNorm);

absl::Status ExportMoments(NodeExport& c) {
  using enum MomentsArrays::Output;
  const auto& param = c.param<MomentsParam>();
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                          ReducedAxes(param.axes, false, c.rank(kData)));
  const std::string mean = c.Emit("ReduceMean", {c.input(kData)}, {{"axes", axes}});
  const std::string centered = c.Emit("Sub", {c.input(kData), mean});
  const std::string square = c.Emit("Mul", {centered, centered});
  COOPER_ASSIGN_OR_RETURN(std::string out,
                          Reduce(c, "ReduceMean", c.input(kData), axes, param.keepdims, kMean));
  c.Return(kMean, std::move(out));
  COOPER_ASSIGN_OR_RETURN(std::string variance,
                          Reduce(c, "ReduceMean", square, axes, param.keepdims, kVar));
  c.Return(kVar, std::move(variance));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(moments, "ReduceMean, Sub, Mul", ExportMoments);

// The position of an extreme element, as a number of data's dtype.
absl::Status ArgReduce(NodeExport& c, absl::string_view op, std::optional<int64_t> axis,
                       bool keepdims) {
  std::string data = c.input(kData);
  if (!axis.has_value()) {
    data = c.Emit("Reshape", {data, c.Ints({-1})});
    keepdims = true;  // the shape (1,)
  }
  const std::string position =
      c.Emit(op, {data}, {{"axis", axis.value_or(0)}, {"keepdims", int64_t{keepdims ? 1 : 0}}});
  std::string out = c.Cast(position, DType::kInt64, c.out_type());
  if (c.out_shape().size() == 1 && c.rank(kData) == 1 && !keepdims) {
    out = c.Emit("Reshape", {out, c.Ints({1})});
  }
  c.Return(std::move(out));
  return absl::OkStatus();
}
const OnnxRegistrar kArgMax({"argmax"}, "ArgMax, Cast", [](NodeExport& c) {
  const auto& param = c.param<ArgReduceParam>();
  return ArgReduce(c, "ArgMax", param.axis, param.keepdims);
});
const OnnxRegistrar kArgMin({"argmin"}, "ArgMin, Cast", [](NodeExport& c) {
  const auto& param = c.param<ArgReduceParam>();
  return ArgReduce(c, "ArgMin", param.axis, param.keepdims);
});
const OnnxRegistrar kArgMaxChannel({"argmax_channel"}, "ArgMax, Cast",
                                   [](NodeExport& c) { return ArgReduce(c, "ArgMax", 1, false); });

absl::Status ExportCumsum(NodeExport& c) {
  const auto& param = c.param<CumsumParam>();
  std::string data = c.Cast(c.input(kData), c.type(kData), c.out_type());
  if (!param.axis.has_value()) data = c.Emit("Reshape", {data, c.Ints({-1})});
  const std::string axis =
      c.graph().Scalar(static_cast<double>(param.axis.value_or(0)), DType::kInt64);
  c.Return(c.Emit("CumSum", {data, axis}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_np_cumsum, "CumSum", ExportCumsum);

absl::Status ExportBroadcast(NodeExport& c) {
  COOPER_ASSIGN_OR_RETURN(const std::string shape, c.ShapeValue(c.out_shape()));
  c.Return(c.Emit("Expand", {c.input(kData), shape}));
  return absl::OkStatus();
}
const OnnxRegistrar kBroadcasts({"broadcast_to", "broadcast_axis", "broadcast_like"}, "Expand",
                                ExportBroadcast);

}  // namespace
}  // namespace cooper
