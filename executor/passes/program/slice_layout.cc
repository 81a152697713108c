#include "executor/passes/program/slice_layout.h"

namespace cooper {
namespace {

// Parts that follow each other along an axis.
struct Sequence {
  bool cuts;
  int axis;
};

std::optional<Sequence> SequenceOf(const Node& node) {
  const OpSchema& op = *node.op();
  if (op.split_axis()) return Sequence{true, op.split_axis()(node.call())};
  if (op.join_axis()) return Sequence{false, op.join_axis()(node.call())};
  return std::nullopt;
}

std::optional<SliceLayout> LayoutOf(const Program& p, const Instruction& instruction,
                                    const Sequence& sequence) {
  const auto& wholes = sequence.cuts ? instruction.inputs : instruction.outputs;
  SliceLayout layout{.cuts = sequence.cuts,
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

// Returns the offset of `part` in `whole`, in elements, if the part is contiguous.
std::optional<int64_t> PlaceOf(const Node& node, const Shape& whole, const Shape& part) {
  if (!node.op()->slice() || part.num_elements() == 0) return std::nullopt;
  int64_t begin = 0;
  bool several = false;  // whether an axis before has more than one index in the part
  for (int i = 0; i < whole.rank(); ++i) {
    const SliceRange range = node.op()->slice()(node.call(), i, whole, part);
    if (several && part[i] != whole[i]) return std::nullopt;
    if (part[i] > 1 && range.step != 1) return std::nullopt;
    several = several || part[i] > 1;
    begin += range.begin * whole.Product(i + 1, whole.rank());
  }
  return begin;
}

}  // namespace

std::optional<SliceLayout> SliceLayoutOf(const Program& p, const Instruction& instruction) {
  if (!instruction.run || instruction.copy_from >= 0) return std::nullopt;
  if (const auto sequence = SequenceOf(*instruction.node))
    return LayoutOf(p, instruction, *sequence);
  if (instruction.inputs.empty() || instruction.outputs.size() != 1) return std::nullopt;
  const ProgramValue& whole = p.values[instruction.inputs[0]];
  const ProgramValue& part = p.values[instruction.outputs[0]];
  const std::optional<int64_t> begin = PlaceOf(*instruction.node, whole.shape, part.shape);
  if (!begin.has_value()) return std::nullopt;
  return SliceLayout{.cuts = true,
                     .whole = instruction.inputs[0],
                     .pieces = instruction.outputs,
                     .begin = {*begin * SizeOf(whole.dtype)}};
}

}  // namespace cooper
