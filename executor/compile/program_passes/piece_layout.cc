#include "executor/compile/program_passes/piece_layout.h"

#include <string>

#include "symbol/ops/shape/concat_param.h"
#include "symbol/ops/shape/slice_param.h"
#include "symbol/ops/shape/split_param.h"

namespace cooper {
namespace {

// Pieces that follow each other along an axis.
struct Sequence {
  bool cuts;
  int axis;
};

std::optional<Sequence> SequenceOf(const Instruction& instruction) {
  const std::string& op = instruction.node->op()->name();
  const OpCall& call = instruction.node->call();
  if (op == "SliceChannel" || op == "_backward_SliceChannel") {
    return Sequence{op == "SliceChannel", call.param<SliceChannelParam>().axis};
  }
  if (op == "_split_v2" || op == "_split_v2_backward") {
    return Sequence{op == "_split_v2", call.param<SplitParam>().axis};
  }
  if (op == "Concat" || op == "_backward_Concat") {
    return Sequence{op != "Concat", call.param<ConcatParam>().dim};
  }
  if (op == "stack" || op == "_backward_stack") {
    return Sequence{op != "stack", call.param<StackParam>().axis};
  }
  return std::nullopt;
}

std::optional<PieceLayout> LayoutOf(const Program& p, const Instruction& instruction,
                                    const Sequence& sequence) {
  const auto& wholes = sequence.cuts ? instruction.inputs : instruction.outputs;
  PieceLayout layout{.cuts = sequence.cuts,
                     .whole = wholes[0],
                     .pieces = sequence.cuts ? instruction.outputs : instruction.inputs,
                     .begin = {}};
  const Shape& whole = p.values[layout.whole].shape;
  const int axis = sequence.axis < 0 ? sequence.axis + whole.rank() : sequence.axis;
  if (whole.Product(0, axis) != 1) return std::nullopt;
  int64_t at = 0;
  for (int piece : layout.pieces) {
    layout.begin.push_back(at);
    at += p.values[piece].bytes();
  }
  return layout;
}

// The first element of `whole` that is in `part`, if the part is in one place.
template <typename Param>
std::optional<int64_t> PlaceOf(const Param& param, const Shape& whole, const Shape& part) {
  int64_t begin = 0;
  bool several = false;  // whether an axis before has more than one index in the part
  for (int i = 0; i < whole.rank(); ++i) {
    const SliceRange range = RangeAlong(i, param, whole, part);
    if (several && part[i] != whole[i]) return std::nullopt;
    if (part[i] > 1 && range.step != 1) return std::nullopt;
    several = several || part[i] > 1;
    begin += range.begin * whole.Product(i + 1, whole.rank());
  }
  return begin;
}

std::optional<int64_t> PlaceOf(const Instruction& instruction, const Shape& whole,
                               const Shape& part) {
  const std::string& op = instruction.node->op()->name();
  const OpCall& call = instruction.node->call();
  if (part.num_elements() == 0) return std::nullopt;
  if (op == "slice") return PlaceOf(call.param<SliceParam>(), whole, part);
  if (op == "slice_axis") return PlaceOf(call.param<SliceAxisParam>(), whole, part);
  if (op == "slice_like") return PlaceOf(LeadingPart(), whole, part);
  if (op == "Crop") return PlaceOf(call.param<CropParam>(), whole, part);
  return std::nullopt;
}

}  // namespace

std::optional<PieceLayout> PieceLayoutOf(const Program& p, const Instruction& instruction) {
  if (!instruction.run || instruction.copy_from >= 0) return std::nullopt;
  if (const auto sequence = SequenceOf(instruction)) return LayoutOf(p, instruction, *sequence);
  if (instruction.inputs.empty() || instruction.outputs.size() != 1) return std::nullopt;
  const ProgramValue& whole = p.values[instruction.inputs[0]];
  const ProgramValue& part = p.values[instruction.outputs[0]];
  const std::optional<int64_t> begin = PlaceOf(instruction, whole.shape, part.shape);
  if (!begin.has_value()) return std::nullopt;
  return PieceLayout{.cuts = true,
                     .whole = instruction.inputs[0],
                     .pieces = instruction.outputs,
                     .begin = {*begin * SizeOf(whole.dtype)}};
}

}  // namespace cooper
