// Operators on padded sequences.

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/sequence_param.h"

namespace cooper {
namespace {

using enum SequenceArrays::Input;

std::string Lengths(NodeExport& c) {
  return c.Cast(c.input(kLength), c.type(kLength), DType::kInt64);
}

// Returns the axes [first, last).
std::vector<int64_t> Axes(int first, int last) {
  std::vector<int64_t> axes(last - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

absl::Status ExportSequenceMask(NodeExport& c) {
  const auto& param = c.param<SequenceMaskParam>();
  if (!param.use_sequence_length) {
    c.Return(c.input(kData));
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(std::string step, c.Range(c.shape(kData)[param.axis]));
  // (time, 1) and (1, batch), or (1, time) and (batch, 1), and an axis of 1 for each other one.
  std::string lengths = Lengths(c);
  std::vector<int64_t> others = Axes(2, c.rank(kData)), behind = others;
  others.insert(others.begin(), 0);
  behind.insert(behind.begin(), 1);
  step = c.Unsqueeze(step, param.axis == 0 ? behind : others);
  lengths = c.Unsqueeze(lengths, param.axis == 0 ? others : behind);
  const std::string valid = c.Emit("Less", {step, lengths});
  c.Return(c.Emit("Where", {valid, c.input(kData), c.Scalar(param.value)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(SequenceMask, "Less, Where", ExportSequenceMask);

absl::Status ExportSequenceReverse(NodeExport& c) {
  if (!c.param<SequenceReverseParam>().use_sequence_length) {
    c.Return(c.Emit("Slice",
                    {c.input(kData), c.Ints({-1}), c.Ints({-std::numeric_limits<int64_t>::max()}),
                     c.Ints({0}), c.Ints({-1})}));
    return absl::OkStatus();
  }
  c.Return(c.Emit("ReverseSequence", {c.input(kData), Lengths(c)},
                  {{"batch_axis", int64_t{1}}, {"time_axis", int64_t{0}}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(SequenceReverse, "ReverseSequence, Slice", ExportSequenceReverse);

absl::Status ExportSequenceLast(NodeExport& c) {
  const auto& param = c.param<SequenceParam>();
  if (!param.use_sequence_length) {
    c.Return(c.Emit("Gather", {c.input(kData), c.graph().Scalar(-1, DType::kInt64)},
                    {{"axis", int64_t{param.axis}}}));
    return absl::OkStatus();
  }
  std::string data = c.input(kData);
  if (param.axis == 0) {
    std::vector<int64_t> axes = Axes(0, c.rank(kData));
    std::swap(axes[0], axes[1]);
    data = c.Transpose(data, axes);
  }
  const std::string last = c.Emit("Max", {c.Emit("Sub", {Lengths(c), c.Ints({1})}), c.Ints({0})});
  c.Return(c.Emit("GatherND", {data, c.Unsqueeze(last, {1})}, {{"batch_dims", int64_t{1}}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(SequenceLast, "Gather, GatherND", ExportSequenceLast);

}  // namespace
}  // namespace cooper
