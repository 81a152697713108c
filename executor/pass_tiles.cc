// The pass that finds chains of element-wise operators.

#include <algorithm>
#include <cstdint>

#include "executor/elementwise_kernels.h"
#include "executor/passes.h"
#include "executor/tiles.h"

namespace cooper {
namespace {

// The elements of each array that the instruction works on; -1 if it has to run on whole arrays.
int64_t ElementsOf(const Program& p, const Instruction& instruction) {
  if (instruction.copy_from >= 0 || instruction.left_to_gradient ||
      std::max(instruction.inputs.size(), instruction.outputs.size()) > kMaxTiledArrays ||
      !IsElementwiseKernel(instruction.node->op()->name(),
                           p.contexts[instruction.context].device_type)) {
    return -1;
  }
  int64_t elements = -1;
  bool same = true;
  ForEachValue(instruction, [&](int value) {
    const int64_t n = p.values[value].shape.num_elements();
    same = same && (elements < 0 || n == elements);
    elements = n;
  });
  return same && elements > 0 ? elements : -1;
}

}  // namespace

void TileElementwise(Program& p) {
  int groups = 0;
  Instruction* last = nullptr;  // of those that run
  int64_t last_elements = -1;
  for (Instruction& instruction : p.instructions) {
    if (!instruction.run) continue;
    const int64_t elements = ElementsOf(p, instruction);
    if (elements >= 0 && elements == last_elements && last->context == instruction.context &&
        last->backward == instruction.backward) {
      if (last->tiles < 0) last->tiles = groups++;
      instruction.tiles = last->tiles;
    }
    last = &instruction;
    last_elements = elements;
  }
}

}  // namespace cooper
