// The pass that lets operators write to the memory of inputs without later readers.

#include <numeric>
#include <vector>

#include "executor/passes/program/program_passes.h"

namespace cooper {
namespace {

bool InOnePlace(const ProgramValue& a, const ProgramValue& b) {
  return a.offset == b.offset && a.bytes() == b.bytes();
}

}  // namespace

void ShareInPlace(Program& p) {
  const std::vector<int> writers = p.CountWriters();
  // The buffer to which the values of each buffer have moved, at unchanged offsets; itself if they
  // have not.
  std::vector<int> moved(p.buffers.size());
  std::iota(moved.begin(), moved.end(), 0);
  auto place = [&](int value) { return moved[p.values[value].buffer]; };
  std::vector<int> remaining(p.buffers.size(), 0);  // reads still to come
  for (const Instruction& instruction : p.instructions) {
    if (!instruction.run) continue;
    for (int input : instruction.inputs) ++remaining[p.values[input].buffer];
  }
  for (int output : p.outputs) ++remaining[p.values[output].buffer];
  std::vector<int> taken_at(p.buffers.size(), -1);  // the last instruction that wrote over it
  // Returns whether an operator may write output `o` over its input `i`. Its other inputs in that
  // memory must be the same elements, each of which it reads before it writes it. Another part of
  // the same array has other offsets, and an operator that is not element-wise, such as an
  // assignment whose two inputs are one value, may read its other input in any order.
  const auto fits = [&](const Instruction& instruction, int i, int o) {
    const int in = instruction.inputs[i];
    const ProgramValue& input = p.values[in];
    const ProgramValue& output = p.values[instruction.outputs[o]];
    if (!InOnePlace(input, output) || input.dtype != output.dtype) return false;
    const bool elementwise = instruction.node->op()->is_elementwise();
    for (int k = 0; k < static_cast<int>(instruction.inputs.size()); ++k) {
      const int other = instruction.inputs[k];
      if (k == i || place(other) != place(in)) continue;
      if (!elementwise || !InOnePlace(p.values[other], input)) return false;
    }
    return true;
  };
  for (int index = 0; index < static_cast<int>(p.instructions.size()); ++index) {
    const Instruction& instruction = p.instructions[index];
    if (!instruction.run) continue;
    for (int input : instruction.inputs) --remaining[place(input)];
    // Arrays whose largest shapes are equal may differ in a run.
    if (p.HasCountedValues(instruction)) continue;
    for (const auto& [i, o] : instruction.node->op()->in_place()) {
      if (i >= static_cast<int>(instruction.inputs.size()) ||
          o >= static_cast<int>(instruction.outputs.size()) ||
          instruction.reqs[o] != WriteReq::kWrite) {
        continue;
      }
      const int to = place(instruction.inputs[i]);
      const int from = place(instruction.outputs[o]);
      // Each input gets at most one output, and each output one input.
      if (from != p.values[instruction.outputs[o]].buffer || taken_at[to] == index) continue;
      if (to == from || remaining[to] != 0 || writers[from] != 1 ||
          p.buffers[to].kind != ProgramBuffer::Kind::kArena ||
          p.buffers[from].kind != ProgramBuffer::Kind::kArena ||
          p.buffers[to].bytes != p.buffers[from].bytes || !fits(instruction, i, o)) {
        continue;
      }
      // This is the only writer of `from`, and its readers come later, so no data must be moved.
      moved[from] = to;
      taken_at[to] = index;
      remaining[to] = remaining[from];
    }
  }
  for (ProgramValue& value : p.values) value.buffer = moved[value.buffer];
}

}  // namespace cooper
