#include "executor/compile/program_flops.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "executor/program/kernel.h"
#include "executor/program/program.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op_flops.h"

namespace cooper {
namespace {

std::vector<Shape> ShapesOf(const Program& program, const std::vector<int>& values) {
  std::vector<Shape> shapes;
  shapes.reserve(values.size());
  for (const int value : values) {
    shapes.push_back(value < 0 ? Shape({0}) : program.values[value].shape);
  }
  return shapes;
}

}  // namespace

ProgramFlops CountFlops(const CompiledProgram& compiled) {
  const Program& program = compiled.program();
  const bool trains = compiled.num_forward() < static_cast<int>(program.instructions.size());
  ProgramFlops flops;
  for (const Instruction& instruction : program.instructions) {
    if (!instruction.run || instruction.copy_from >= 0) continue;
    if (trains && instruction.computed_by_gradient) continue;
    const std::vector<Shape> inputs = ShapesOf(program, instruction.inputs);
    const std::vector<Shape> outputs = ShapesOf(program, instruction.outputs);
    const auto wanted = std::make_unique<bool[]>(outputs.size());  // vector<bool> has no Span
    double elements = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      wanted[i] = instruction.reqs[i] != WriteReq::kNull;
      if (wanted[i]) elements += static_cast<double>(outputs[i].num_elements());
    }
    const Node& node = *instruction.node;
    if (node.op()->family() == "reduce" && !inputs.empty()) {
      elements = std::max(elements, static_cast<double>(inputs[0].num_elements()));
    }
    flops.elements += elements;
    flops.products += ProductFlops({.call = node.call(),
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .wanted = absl::MakeConstSpan(wanted.get(), outputs.size())});
  }
  return flops;
}

}  // namespace cooper
