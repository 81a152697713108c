// Counts elements by intervals. MXNet: src/operator/tensor/histogram.cc.

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/reduce/histogram_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum HistogramArrays::Input;
using enum HistogramArrays::Output;

absl::Status CheckParam(const HistogramParam& param) {
  if (param.bin_cnt.has_value() != param.range.has_value()) {
    return absl::InvalidArgumentError("expected both bin_cnt and range, or neither");
  }
  if (!param.bin_cnt.has_value()) return absl::OkStatus();
  if (*param.bin_cnt < 1 || *param.bin_cnt > INT32_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("bin_cnt is ", *param.bin_cnt, ", expected 1 to 2^31 - 1"));
  }
  const std::vector<double>& range = *param.range;
  if (range.size() == 2 && range[0] <= range[1] && std::isfinite(range[1] - range[0])) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("range is ", PrintParamText(range), ", expected two numbers in order"));
}

absl::Status HistogramShape(ShapeContext& c) {
  const auto& param = c.param<HistogramParam>();
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  if (param.bin_cnt.has_value()) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(kCounts, {*param.bin_cnt}, "(bin_cnt,)"));
    return c.SetOutput(kBounds, {*param.bin_cnt + 1}, "(bin_cnt + 1,)");
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kBins, {kUnknownDim}, "(bounds,)"));
  COOPER_RETURN_IF_ERROR(c.SetOutput(kBounds, c.input(kBins), "the shape of bins"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kBins, c.output(kBounds), "the shape of the bounds"));
  const int64_t bounds = c.input(kBins)[0];
  if (bounds == kUnknownDim) return absl::OkStatus();
  if (bounds < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'bins' has ", bounds, " bounds, expected 2 or more"));
  }
  return c.SetOutput(kCounts, {bounds - 1}, "(bounds - 1,)");
}

absl::Status HistogramType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kCounts, DType::kInt64));
  COOPER_RETURN_IF_ERROR(c.SetOutput(kBounds, c.input(kData)));
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, c.output(kBounds)));
    COOPER_RETURN_IF_ERROR(c.SetOutput(kBounds, c.input(i)));
  }
  return c.SetInput(kData, c.output(kBounds));
}

COOPER_REGISTER_OP(_histogram)
    .Describe("The numbers of data's elements in bins, and the bounds of these.")
    .Alias("_npi_histogram")
    .Param<HistogramParam>()
    .Inputs([](const OpCall& call) -> OpSchema::Names {
      if (call.param<HistogramParam>().bin_cnt.has_value()) return {"data"};
      return {"data", "bins"};
    })
    .Outputs({"output0", "output1"})
    .Shape(HistogramShape)
    .Type(HistogramType);

COOPER_OP_EXAMPLE(_histogram, {{"bin_cnt", "5"}, {"range", "(0, 5)"}}, {{2, 3}});

}  // namespace
}  // namespace cooper
