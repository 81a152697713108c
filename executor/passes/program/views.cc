// The pass for operators that keep the bytes of their input, and change its shape at most.

#include <vector>

#include "executor/passes/program/program_passes.h"

namespace cooper {
namespace {

// Returns whether a permutation of axes keeps the order of elements: it does if the axes with more
// than one index keep theirs.
bool KeepsOrder(const std::vector<int>& axes, const Shape& shape) {
  int last = -1;
  for (int axis : axes) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace

bool LeavesBytes(const Program& p, const Instruction& instruction) {
  const OpSchema& op = *instruction.node->op();
  if (op.keeps_elements()) return true;
  // Whether a transposition moves elements depends on the shape.
  if (!op.transposed_axes() || p.HasCountedValues(instruction)) return false;
  const Shape& shape = p.values[instruction.inputs[0]].shape;
  return KeepsOrder(op.transposed_axes()(instruction.node->call(), shape.rank()), shape);
}

void MakeViews(Program& p) {
  const std::vector<int> writers = p.CountWriters();
  const std::vector<int> changes = p.CountInputChanges();
  std::vector<bool> is_output(p.values.size(), false);
  for (int output : p.outputs) is_output[output] = true;
  for (Instruction& instruction : p.instructions) {
    if (!LeavesBytes(p, instruction) || instruction.reqs[0] != WriteReq::kWrite) continue;
    ProgramValue& out = p.values[instruction.outputs[0]];
    const ProgramValue& in = p.values[instruction.inputs[0]];
    const ProgramBuffer& source = p.buffers[in.buffer];
    const ProgramBuffer& target = p.buffers[out.buffer];
    if (target.kind != ProgramBuffer::Kind::kArena || writers[out.buffer] != 1 ||
        source.bytes != target.bytes || in.dtype != out.dtype) {
      continue;
    }
    // A view would change with its source if another operator writes to that.
    const bool is_input =
        source.kind == ProgramBuffer::Kind::kArg || source.kind == ProgramBuffer::Kind::kAux;
    if (changes[in.buffer] > 0 || (is_input && writers[in.buffer] > 0)) continue;
    // An output must not change when the caller writes to an argument.
    if (is_output[instruction.outputs[0]] && source.kind != ProgramBuffer::Kind::kArena) continue;
    out.buffer = in.buffer;
    instruction.run = false;
  }
}

}  // namespace cooper
