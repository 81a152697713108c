// The pass for operators that give bytes another shape.

#include <vector>

#include "executor/passes.h"

namespace cooper {

void MakeViews(Program& p) {
  const std::vector<int> writers = p.CountWriters();
  std::vector<bool> is_output(p.values.size(), false);
  for (int output : p.outputs) is_output[output] = true;
  for (Instruction& instruction : p.instructions) {
    if (!instruction.node->op()->is_view() || instruction.reqs[0] != WriteReq::kWrite) continue;
    ProgramValue& out = p.values[instruction.outputs[0]];
    const ProgramValue& in = p.values[instruction.inputs[0]];
    const ProgramBuffer& source = p.buffers[in.buffer];
    const ProgramBuffer& target = p.buffers[out.buffer];
    if (target.kind != ProgramBuffer::Kind::kArena || writers[out.buffer] != 1 ||
        source.bytes != target.bytes || in.dtype != out.dtype) {
      continue;
    }
    // An output must not change when the caller writes into an argument.
    if (is_output[instruction.outputs[0]] && source.kind != ProgramBuffer::Kind::kArena) continue;
    out.buffer = in.buffer;
    instruction.run = false;
  }
}

}  // namespace cooper
