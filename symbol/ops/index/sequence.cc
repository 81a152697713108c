// Operators on batches of sequences of different lengths: data (max_sequence_length, batch_size,
// ...), or (batch_size, max_sequence_length, ...) with axis 1. MXNet:
// src/operator/sequence_*-inl.h.

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/sequence_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/input_attrs.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum SequenceArrays::Input;

template <typename Param>
OpSchema::Names SequenceInputs(const OpCall& call) {
  if (call.param<Param>().use_sequence_length) return {"data", "sequence_length"};
  return {"data"};
}

// Lengths must be given: an automatic variable for them would be trained like a weight.
AttrMap LengthsAreGiven(const OpCall&, int input) {
  if (input != kLength) return {};
  return {{kRequiredInput, "use_sequence_length is True"}};
}

absl::Status CheckSequence(const ShapeContext& c) {
  if (c.input(kData).rank_known() && c.input(kData).rank() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' ", c.input(kData).ToString(), " has no axes of time and batch"));
  }
  return absl::OkStatus();
}

// Merges the batch sizes of sequence_length (batch_size,) and of data.
absl::Status ShareBatchSize(ShapeContext& c, int axis) {
  const int batch_axis = 1 - axis;
  if (c.num_inputs() == 1) return absl::OkStatus();
  const bool known = c.input(kData).rank_known();
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kLength, {known ? c.input(kData)[batch_axis] : kUnknownDim}, "(batch_size,)"));
  if (!known) return CheckSequence(c);  // data may be the lengths themselves
  PartialShape data = PartialShape::OfRank(c.input(kData).rank());
  data[batch_axis] = c.input(kLength)[0];
  return c.SetInput(kData, data, "with the batch size of sequence_length");
}

// Shape rule: the output has data's shape.
template <typename Param>
absl::Status SequenceShape(ShapeContext& c) {
  const int axis = c.param<Param>().axis;
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  COOPER_RETURN_IF_ERROR(CheckSequence(c));
  COOPER_RETURN_IF_ERROR(ShareBatchSize(c, axis));
  return c.SetOutput(0, c.input(kData));
}

// Shape rule: the output has data's shape without the time axis.
absl::Status SequenceLastShape(ShapeContext& c) {
  const int axis = c.param<SequenceParam>().axis;
  COOPER_RETURN_IF_ERROR(CheckSequence(c));
  if (c.output(0).rank_known()) {
    std::vector<int64_t> dims(c.output(0).dims().begin(), c.output(0).dims().end());
    if (dims.empty()) return absl::InvalidArgumentError("the output has no axis of batch");
    dims.insert(dims.begin() + axis, kUnknownDim);
    COOPER_RETURN_IF_ERROR(c.SetInput(kData, PartialShape(dims), "the output and time"));
  }
  COOPER_RETURN_IF_ERROR(ShareBatchSize(c, axis));
  if (!c.input(kData).rank_known()) return absl::OkStatus();
  if (c.input(kData)[axis] == 0) {
    return absl::InvalidArgumentError(absl::StrCat("axis ", axis, " of input 'data' ",
                                                   c.input(kData).ToString(), " has no step"));
  }
  std::vector<int64_t> dims(c.input(kData).dims().begin(), c.input(kData).dims().end());
  dims.erase(dims.begin() + axis);
  return c.SetOutput(0, PartialShape(dims), "data without time");
}

// Type rule: lengths may have any dtype; the default is data's.
absl::Status SequenceType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  if (c.num_inputs() > 1 && !c.input(kLength).has_value()) {
    return c.SetInput(kLength, c.input(kData));
  }
  return absl::OkStatus();
}

std::vector<NodeEntry> WithLength(GradientContext& c, NodeEntry head) {
  std::vector<NodeEntry> inputs = {std::move(head)};
  if (c.num_inputs() > 1) inputs.push_back(c.input(kLength));
  return inputs;
}

// Gradient rule: the gradient of masking is masked with 0, that of reversing is reversed.
template <typename Param>
absl::StatusOr<std::vector<NodeEntry>> SameOpGradient(GradientContext& c, const char* op) {
  const auto& param = c.param<Param>();
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(
      NodeEntry gradient,
      c.Call(op, WithLength(c, head),
             {{"use_sequence_length", PrintParamText(param.use_sequence_length)},
              {"axis", PrintParamText(param.axis)}}));
  std::vector<NodeEntry> gradients(c.num_inputs());
  gradients[kData] = gradient;
  return gradients;
}

COOPER_REGISTER_OP(SequenceMask)
    .Describe("data with value behind the end of each sequence.")
    .Alias("_npx_sequence_mask")
    .Param<SequenceMaskParam>()
    .Inputs(SequenceInputs<SequenceMaskParam>)
    .Shape(SequenceShape<SequenceMaskParam>)
    .Type(SequenceType)
    .Gradient([](GradientContext& c) {
      return SameOpGradient<SequenceMaskParam>(c, "SequenceMask");
    })
    .InPlace({{0, 0}})
    .VariableAttrs(LengthsAreGiven);

COOPER_REGISTER_OP(SequenceReverse)
    .Describe("data with the elements of each sequence in reverse order.")
    .Param<SequenceReverseParam>()
    .Inputs(SequenceInputs<SequenceReverseParam>)
    .Shape(SequenceShape<SequenceReverseParam>)
    .Type(SequenceType)
    .Gradient([](GradientContext& c) {
      return SameOpGradient<SequenceReverseParam>(c, "SequenceReverse");
    })
    .VariableAttrs(LengthsAreGiven);

COOPER_REGISTER_OP(SequenceLast)
    .Describe("The last element of each sequence.")
    .Param<SequenceParam>()
    .Inputs(SequenceInputs<SequenceParam>)
    .Shape(SequenceLastShape)
    .Type(SequenceType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_SequenceLast", WithLength(c, head));
    })
    .VariableAttrs(LengthsAreGiven);

COOPER_REGISTER_OP(_backward_SequenceLast)
    .Describe("Zeros with ograd at the last element of each sequence.")
    .Param<SequenceParam>()
    .Inputs([](const OpCall& call) -> OpSchema::Names {
      if (call.param<SequenceParam>().use_sequence_length) return {"ograd", "sequence_length"};
      return {"ograd"};
    })
    .Shape(GradientShape)
    .Type(GradientType);

}  // namespace
}  // namespace cooper
