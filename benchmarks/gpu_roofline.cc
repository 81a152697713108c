#include "benchmarks/gpu_roofline.h"

#include <cstdint>
#include <string>

namespace cooper {
namespace {

// Returns the input whose rows are looked up, 0 (take) or 1 (Embedding): as many of its bytes are
// read as the output has.
int LookedUpInput(const std::string& op) {
  if (op == "Embedding") return 1;
  return op == "take" ? 0 : -1;
}

}  // namespace

GpuWork MinWork(const Program& program) {
  int64_t bytes = 0;
  for (const Instruction& instruction : program.instructions) {
    if (!instruction.run || instruction.computed_by_gradient) continue;
    const int looked_up = LookedUpInput(instruction.node->op()->name());
    int64_t written = 0;
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      const int64_t size = program.values[instruction.outputs[k]].bytes();
      if (instruction.reqs[k] == WriteReq::kNull) continue;
      written += size;
      if (instruction.reqs[k] == WriteReq::kAdd) bytes += size;
    }
    bytes += written;
    if (instruction.node->op()->reads_shapes_alone()) continue;
    for (int k = 0; k < static_cast<int>(instruction.inputs.size()); ++k) {
      const int64_t size = program.values[instruction.inputs[k]].bytes();
      bytes += k == looked_up ? std::min(size, written) : size;
    }
  }
  return {.bytes = static_cast<double>(bytes)};
}

}  // namespace cooper
