// Draws outcomes by their probabilities. MXNet: src/operator/random/sample_multinomial_op.cc.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/random/multinomial_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum MultinomialArrays::Input;
using enum MultinomialArrays::Output;

absl::Status MultinomialShape(ShapeContext& c) {
  const PartialShape data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 0 || data[data.rank() - 1] == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' ", data.ToString(), " has no outcomes"));
  }
  std::vector<int64_t> extents(data.dims().begin(), data.dims().end() - 1);
  const std::vector<int64_t>& shape = c.param<MultinomialParam>().shape;
  extents.insert(extents.end(), shape.begin(), shape.end());
  if (extents.empty()) extents = {1};
  for (int64_t extent : shape) {
    if (extent < 0) {
      return absl::InvalidArgumentError(absl::StrCat("shape has the extent ", extent));
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    COOPER_RETURN_IF_ERROR(
        c.SetOutput(i, PartialShape(extents), "(data's extents but the last, the shape)"));
  }
  return absl::OkStatus();
}

absl::Status MultinomialType(TypeContext& c) {
  const DType dtype = c.param<MultinomialParam>().dtype;
  if (dtype == DType::kBool || dtype == DType::kInt8) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype is ", DTypeName(dtype), ", expected one of more than 7 bits"));
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutcome, dtype));
  if (c.num_outputs() == 1) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(c.SetOutput(kLogProb, c.input(kData)));
  return c.SetInput(kData, c.output(kLogProb));
}

// Gradient rule: only the logarithms of probabilities have a gradient.
absl::StatusOr<std::vector<NodeEntry>> MultinomialGradient(GradientContext& c) {
  if (c.num_outputs() == 1 || !c.has_head(kLogProb)) return std::vector<NodeEntry>(1);
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(kLogProb));
  return c.Backward("_backward_sample_multinomial", {head, c.input(kData), c.output(kOutcome)});
}

COOPER_REGISTER_OP(_sample_multinomial)
    .Describe("Positions in the last axis of data, drawn by the probabilities there.")
    .Alias("sample_multinomial")
    .Param<MultinomialParam>()
    .Inputs({"data"})
    .Outputs([](const OpCall& call) -> OpSchema::Names {
      if (call.param<MultinomialParam>().get_prob) return {"output0", "output1"};
      return {"output"};
    })
    .Shape(MultinomialShape)
    .Type(MultinomialType)
    .Gradient(MultinomialGradient)
    .Random();

COOPER_REGISTER_OP(_backward_sample_multinomial)
    .Describe("Gradient of _sample_multinomial's logarithms of probabilities.")
    .Param<MultinomialParam>()
    .Inputs({"ograd", "data", "outcome"})
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
