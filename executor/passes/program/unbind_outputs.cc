#include "executor/passes/program/program_passes.h"

namespace cooper {

void UnbindOutputs(Program& p) {
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    const ProgramValue& value = p.values[p.outputs[i]];
    ProgramBuffer& buffer = p.buffers[value.buffer];
    // A buffer that another output has taken no longer belongs to the arena.
    if (buffer.kind != ProgramBuffer::Kind::kArena || value.offset != 0 ||
        value.bytes() != buffer.bytes) {
      continue;
    }
    buffer.kind = ProgramBuffer::Kind::kOutput;
    buffer.slot = static_cast<int>(i);
  }
}

}  // namespace cooper
