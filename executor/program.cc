#include "executor/program.h"

namespace cooper {

std::vector<int> Program::CountReads() const {
  std::vector<int> reads(values.size(), 0);
  for (const Instruction& instruction : instructions) {
    for (int input : instruction.inputs) ++reads[input];
  }
  for (int output : outputs) ++reads[output];
  return reads;
}

std::vector<int> Program::CountWriters() const {
  std::vector<int> writers(buffers.size(), 0);
  for (const Instruction& instruction : instructions) {
    if (!instruction.run) continue;
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      if (instruction.reqs[k] != WriteReq::kNull) ++writers[values[instruction.outputs[k]].buffer];
    }
  }
  return writers;
}

std::vector<int> Program::Producers() const {
  std::vector<int> producers(values.size(), -1);
  for (size_t i = 0; i < instructions.size(); ++i) {
    for (int output : instructions[i].outputs) producers[output] = static_cast<int>(i);
  }
  return producers;
}

std::string Describe(const Instruction& instruction) { return Describe(*instruction.node); }

}  // namespace cooper
