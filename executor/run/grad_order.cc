#include "executor/run/grad_order.h"

#include "executor/program/program.h"

namespace cooper {

std::vector<std::vector<int>> GradsDoneAfter(const CompiledProgram& compiled) {
  const Program& p = compiled.program();
  std::vector<std::vector<int>> done(p.instructions.size());
  if (static_cast<size_t>(compiled.num_forward()) == p.instructions.size()) return done;
  std::vector<int> last_of_slot(p.arg_names.size(), compiled.num_forward());
  for (size_t i = compiled.num_forward(); i < p.instructions.size(); ++i) {
    ForEachValue(p.instructions[i], [&](int value) {
      const ProgramBuffer& buffer = p.buffers[p.values[value].buffer];
      if (buffer.kind == ProgramBuffer::Kind::kGrad) {
        last_of_slot[buffer.slot] = static_cast<int>(i);
      }
    });
  }
  for (size_t g = 0; g < p.gradients.size(); ++g) {
    done[last_of_slot[p.gradients[g].arg]].push_back(static_cast<int>(g));
  }
  return done;
}

}  // namespace cooper
